# nacre_install_program(<target> <folder> [OPTIONAL]): installs a shared library or a program without its debug
# information. With NACRE_INSTALL_DEBUG, the debug information is installed in <folder>/.debug, where debuggers find it.
include_guard(GLOBAL)
# Builds all that is installed, and nothing else.
add_custom_target(installed)
option(NACRE_INSTALL_DEBUG "Install the debug information of libraries and programs, in .debug/ beside each" OFF)

function(nacre_install_program target folder)
  add_dependencies(installed ${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${folder} RUNTIME DESTINATION ${folder} ${ARGN})
  set(absolute ${folder})
  if(NOT IS_ABSOLUTE ${folder})
    set(absolute "\${CMAKE_INSTALL_PREFIX}/${folder}")
  endif()
  install(CODE "
    set(built \"$<TARGET_FILE:${target}>\")
    set(installed \"\$ENV{DESTDIR}${absolute}/$<TARGET_FILE_NAME:${target}>\")
    set(strip \"${CMAKE_STRIP}\")
    set(objcopy \"${CMAKE_OBJCOPY}\")
    set(with_debug \"${NACRE_INSTALL_DEBUG}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/strip_installed.cmake)
endfunction()
