# Installs the header, the files of pkg-config and CMake, the nacre command, its documents and the module files. src/mpi
# installs the libraries, and testbed its programs.
#
# In a wheel (pyproject.toml), NACRE_INSTALL_COMMAND is off: the Python packaging tools install the command.
include_guard(GLOBAL)
option(NACRE_INSTALL_COMMAND "Install the nacre command with cmake --install" ON)
set(NACRE_PYTHON_PACKAGES "" CACHE PATH
    "Directory with Python packages that the command needs, to install with it; default: those of the system")

install(FILES ${PROJECT_SOURCE_DIR}/include/nacre/nacre.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nacre)

# Relative paths, so that an installed tree can be moved.
file(RELATIVE_PATH NACRE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" NACRE_PC_PREFIX "${NACRE_PC_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/nacre.pc.in ${PROJECT_BINARY_DIR}/nacre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nacre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package_config ${CMAKE_INSTALL_LIBDIR}/cmake/nacre)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nacreConfig.cmake.in ${PROJECT_BINARY_DIR}/nacreConfig.cmake
                              INSTALL_DESTINATION ${package_config}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nacreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nacreConfig.cmake ${PROJECT_BINARY_DIR}/nacreConfigVersion.cmake
        DESTINATION ${package_config})

# The command reads this table. It must be in the directory of the Python package.
set(file_systems ${PROJECT_SOURCE_DIR}/src/store/file_systems.toml)
if(NOT NACRE_INSTALL_COMMAND)
  install(FILES ${file_systems} DESTINATION .)
else()
  set(package ${CMAKE_INSTALL_DATADIR}/nacre/python/nacre)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/nacre/ DESTINATION ${package}
          FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
  install(FILES ${file_systems} DESTINATION ${package})
  file(RELATIVE_PATH library_dir /${package} /${CMAKE_INSTALL_LIBDIR})
  file(WRITE ${PROJECT_BINARY_DIR}/library_dir "${library_dir}\n")
  install(FILES ${PROJECT_BINARY_DIR}/library_dir DESTINATION ${package})

  if(NACRE_PYTHON_PACKAGES)
    install(DIRECTORY ${NACRE_PYTHON_PACKAGES}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/nacre/python)
  endif()

  file(RELATIVE_PATH NACRE_PYTHON_DIR /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_DATADIR}/nacre/python)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/nacre.sh.in ${PROJECT_BINARY_DIR}/installed/nacre @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/nacre DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
                ${PROJECT_SOURCE_DIR}/packaging/config.toml DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/slurm/CMakeLists.txt
                ${PROJECT_SOURCE_DIR}/packaging/slurm/nacre_spank.c DESTINATION ${CMAKE_INSTALL_DATADIR}/nacre/slurm)

  # The module files contain the prefix, which is known during the installation only.
  foreach(kind lua tcl)
    set(suffix "")
    if(kind STREQUAL "lua")
      set(suffix .lua)
    endif()
    set(made ${PROJECT_BINARY_DIR}/modulefiles/${kind}/nacre/${PROJECT_VERSION}${suffix})
    configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefiles/nacre.${kind}.in ${made}.in @ONLY)
    install(CODE "
      file(READ \"${made}.in\" text)
      string(REPLACE \"%NACRE_PREFIX%\" \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
      file(WRITE \"${made}\" \"\${text}\")")
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_DATADIR}/nacre/modulefiles/${kind}/nacre)
  endforeach()
endif()
