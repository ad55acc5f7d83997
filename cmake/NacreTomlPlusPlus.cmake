# nacre_tomlplusplus: toml++ as headers, the system's or the copy in third_party.
#
# Some distributions build toml++ as a shared library. Its headers alone are used there too: Nacre's libraries are
# loaded into other people's programs and need nothing but the system's libraries.
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
