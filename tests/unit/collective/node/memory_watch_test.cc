// Memory is short if the kept memory exceeds a quarter of the available memory. Rarely checked.
#include "collective/node/memory_watch.h"

#include <chrono>
#include <cstdint>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {

TEST_CASE("a quarter of what is available may be kept") {
  testing::InProcessNetwork network({});
  MemoryWatch watch([] { return std::int64_t{1'000}; }, std::chrono::nanoseconds(0));
  CHECK_FALSE(watch.leaves_memory_short(250, network.transport(0)));
  CHECK(watch.leaves_memory_short(251, network.transport(0)));
}

TEST_CASE("frequent calls read the available memory once per interval") {
  testing::InProcessNetwork network({});
  int looks = 0;
  const auto look = [&looks] {
    ++looks;
    return std::int64_t{0};
  };
  MemoryWatch seldom(look, std::chrono::hours(1));
  for (int i = 0; i < 1'000; ++i) CHECK_FALSE(seldom.leaves_memory_short(1, network.transport(0)));
  CHECK(looks == 0);
  MemoryWatch always(look, std::chrono::nanoseconds(0));
  for (int i = 0; i < 3; ++i) CHECK(always.leaves_memory_short(1, network.transport(0)));
  CHECK(looks == 3);
}

}  // namespace nacre::collective
