// Memory that the ranks of a node create together: all ranks map it and it has no name, or no rank
// has it.
#include "collective/node/node_memory.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

using Shared = std::optional<store::SharedMemory>;

/// The line of /proc/self/maps for the mapping that begins at `address`.
std::string mapping_at(const std::byte* address) {
  std::ostringstream wanted;
  wanted << std::hex << reinterpret_cast<std::uintptr_t>(address) << '-';
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(wanted.str())) return line;
  }
  return {};
}

}  // namespace

TEST_CASE("every rank of a node maps the same zeroed memory, and no name remains") {
  for (const int ranks : {2, 3, 9}) {
    testing::InProcessNetwork network({ranks, testing::SendMode::mixed, 1});
    std::vector<int> node_ranks;
    for (int rank = 0; rank < ranks; ++rank) node_ranks.push_back(rank);
    const auto memories = testing::run_threads<Shared>(network, [&](int rank) {
      return share_memory(network.transport(rank), node_ranks, 10'000);
    });
    REQUIRE(memories.has_value());
    for (const Shared& memory : *memories) {
      REQUIRE(memory.has_value());
      CHECK(mapping_at(memory->bytes().data()).ends_with("(deleted)"));
      CHECK(memory->bytes().size() == 10'000);
      for (const std::byte byte : memory->bytes()) REQUIRE(byte == std::byte{0});
    }
    std::memset(memories->front()->bytes().data(), 42, 10'000);
    for (const Shared& memory : *memories) CHECK(memory->bytes().back() == std::byte{42});
  }
}

TEST_CASE("without enough memory no rank has any") {
  testing::InProcessNetwork network({3, testing::SendMode::mixed, 1});
  const std::vector<int> node_ranks{0, 1, 2};
  constexpr std::int64_t too_much = std::int64_t{1} << 60;
  const auto memories = testing::run_threads<Shared>(network, [&](int rank) {
    return share_memory(network.transport(rank), node_ranks, too_much);
  });
  REQUIRE(memories.has_value());
  for (const Shared& memory : *memories) CHECK_FALSE(memory.has_value());
}

}  // namespace nacre::collective
