# `cmake --install` runs this after it installs a target: removes the debug information from ${installed} and, if
# ${with_debug}, saves that of ${built} in .debug/. See NacreInstall.cmake.
if(EXISTS "${installed}")
  execute_process(COMMAND "${strip}" --strip-unneeded "${installed}" COMMAND_ERROR_IS_FATAL ANY)
  if(with_debug)
    cmake_path(GET installed PARENT_PATH folder)
    cmake_path(GET installed FILENAME name)
    file(MAKE_DIRECTORY "${folder}/.debug")
    set(debug "${folder}/.debug/${name}.debug")
    message(STATUS "Installing: ${debug}")
    execute_process(COMMAND "${objcopy}" --only-keep-debug "${built}" "${debug}" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${objcopy}" "--add-gnu-debuglink=${debug}" "${installed}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
