# `cmake --install` of a tree whose libraries are not built says so, before it installs anything. It is included before
# all other install rules, which run in the order in which they are read.
include_guard(GLOBAL)

install(CODE [[
  if(NOT EXISTS "$<TARGET_FILE:nacre>")
    message(FATAL_ERROR "Nothing was installed: $<TARGET_FILE:nacre> is not built. "
            "Run `cmake --build BUILD` first, or `cmake --build BUILD --target libraries` for the libraries alone.")
  endif()
]])
