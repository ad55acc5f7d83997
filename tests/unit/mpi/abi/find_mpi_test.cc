// Which loaded objects define a symbol, by their own tables, against what the dynamic linker finds.
#include "mpi/abi/find_mpi.h"

#include <algorithm>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>

/// A function that only this program defines.
extern "C" [[gnu::visibility("default")]] int nacre_test_symbol_of_the_program() { return 1; }

namespace nacre::mpi {
namespace {

/// The objects that may define the symbol, by their address.
std::vector<ElfW(Addr)> objects_with(const char* symbol) {
  struct Search {
    const char* symbol;
    std::vector<ElfW(Addr)> found;
  } search{symbol, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        if (may_define(*info, wanted.symbol)) wanted.found.push_back(info->dlpi_addr);
        return 0;
      },
      &search);
  return search.found;
}

ElfW(Addr) object_of(const void* address) {
  Dl_info info;
  link_map* object = nullptr;
  REQUIRE(dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0);
  return object->l_addr;
}

}  // namespace

TEST_CASE("a symbol is found in the object that the dynamic linker finds it in") {
  for (const char* symbol : {"malloc", "strtol", "dlopen", "fallocate", "_Znwm", "cos"}) {
    CAPTURE(symbol);
    const void* const address = dlsym(RTLD_DEFAULT, symbol);
    REQUIRE(address != nullptr);
    const std::vector<ElfW(Addr)> found = objects_with(symbol);
    CHECK(std::ranges::find(found, object_of(address)) != found.end());
    CHECK(found.size() <= 3);  // the run-time library of a sanitizer may define it too
  }
}

TEST_CASE("a symbol that no object defines is not found") {
  CHECK(objects_with("PMPI_Comm_rank").empty());
  CHECK(objects_with("nacre_test_symbol_of_nobody").empty());
  CHECK(objects_with("").empty());
}

TEST_CASE("a symbol of the program is found only in the program") {
  const auto* const here = reinterpret_cast<const void*>(&nacre_test_symbol_of_the_program);
  const std::vector<ElfW(Addr)> found = objects_with("nacre_test_symbol_of_the_program");
  REQUIRE(found.size() == 1);
  CHECK(found.front() == object_of(here));
}

}  // namespace nacre::mpi
