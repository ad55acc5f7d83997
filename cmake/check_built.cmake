# Makes `cmake --install` fail before it installs anything if the libraries are not built. Included before all other
# install rules, because they run in the order in which CMake reads them.
include_guard(GLOBAL)

install(CODE [[
  if(NOT EXISTS "$<TARGET_FILE:nacre>")
    message(FATAL_ERROR "Nothing was installed: $<TARGET_FILE:nacre> is not built. "
            "Run `cmake --build BUILD` first, or `cmake --build BUILD --target libraries` for the libraries alone.")
  endif()
]])
