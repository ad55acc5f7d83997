# nacre_tomlplusplus: the headers of toml++, from the system or from the copy in third_party.
#
# Nacre uses toml++ header-only, even if the distribution builds it as a shared library: Nacre is preloaded into other
# programs, so it may depend on system libraries only.
include_guard(GLOBAL)

find_package(tomlplusplus 3.3 QUIET CONFIG)
set(directory ${PROJECT_SOURCE_DIR}/third_party/tomlplusplus/include)
if(TARGET tomlplusplus::tomlplusplus)
  get_target_property(directory tomlplusplus::tomlplusplus INTERFACE_INCLUDE_DIRECTORIES)
endif()
message(STATUS "toml++ from ${directory}")
add_library(nacre_tomlplusplus INTERFACE)
target_include_directories(nacre_tomlplusplus SYSTEM INTERFACE ${directory})
target_compile_definitions(nacre_tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
