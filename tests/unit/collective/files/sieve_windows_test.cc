// Sieve windows bridge short gaps between short runs, keep to the buffer, and cover every byte
// once, in order.
#include "collective/files/sieve_windows.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "random_access.h"

namespace nacre::collective {
namespace {

using plan::TypeMap;

SieveWindows windows_of(const TypeMap& type, std::int64_t bytes, std::int64_t buffer_bytes) {
  return {plan::RunCursor({type, 0}, 0, bytes), buffer_bytes, 16 << 10};
}

TypeMap strided(std::int64_t length, std::int64_t stride) {
  return TypeMap::bytes(length).resized(0, stride).value();
}

}  // namespace

TEST_CASE("without a buffer every run is a window") {
  SieveWindows windows = windows_of(strided(8, 16), 24, 0);
  for (std::int64_t i = 0; i < 3; ++i) {
    const SieveWindow window = windows.next();
    CHECK(window.hull == Extent{16 * i, 8});
    CHECK_FALSE(window.has_gaps);
  }
  CHECK(windows.next().data_bytes == 0);
}

TEST_CASE("short gaps are bridged up to the buffer's size") {
  SieveWindows windows = windows_of(strided(8, 16), 8'000, 1'600);
  const SieveWindow window = windows.next();
  CHECK(window.has_gaps);
  CHECK(window.data_bytes == 800);
  CHECK(window.hull == Extent{0, 1'592});
}

TEST_CASE("a gap is bridged if it and the next run cost no more than a call") {
  CHECK(windows_of(strided(8'000, 16'000), 80'000, 1 << 20).next().has_gaps);
  // Dense accesses too: the gap, or the copy of the run, costs more than a call.
  CHECK_FALSE(windows_of(strided(8'000, 17'000), 80'000, 1 << 20).next().has_gaps);
  CHECK_FALSE(windows_of(strided(47'008, 4 * 47'008), 80'000, 1 << 20).next().has_gaps);
  CHECK_FALSE(windows_of(strided(16'300, 16'400), 80'000, 1 << 20).next().has_gaps);
}

TEST_CASE("a long first run is a window of its own") {
  const std::vector<std::int64_t> lengths{20'000, 8};
  const std::vector<std::int64_t> offsets{0, 20'010};
  const TypeMap type = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  SieveWindows windows = windows_of(type, 20'008, 1 << 20);
  CHECK_FALSE(windows.next().has_gaps);
}

TEST_CASE("decreasing offsets end a window") {
  const std::vector<std::int64_t> lengths{4, 4, 4};
  const std::vector<std::int64_t> offsets{100, 110, 0};
  const TypeMap type = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  SieveWindows windows = windows_of(type, 12, 4'096);
  CHECK(windows.next().hull == Extent{100, 14});
  CHECK(windows.next().hull == Extent{0, 4});
}

TEST_CASE("random accesses: windows hold the bytes of the stream in order") {
  const std::uint64_t seed = 99;
  MESSAGE("seed ", seed);
  fixtures::Random random(seed);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const plan::TiledMap map{fixtures::random_memory_type(random), 0};
    const std::int64_t bytes = fixtures::pick(random, 1, 3'000);
    const std::int64_t buffer = fixtures::pick(random, 0, 2'000);
    const std::vector<std::int64_t> offsets = fixtures::offsets_of(map, 0, bytes);
    SieveWindows windows(plan::RunCursor(map, 0, bytes), buffer, 16 << 10);
    std::int64_t done = 0;
    while (done < bytes) {
      const SieveWindow window = windows.next();
      REQUIRE(window.data_bytes > 0);
      REQUIRE(done + window.data_bytes <= bytes);
      if (window.has_gaps) CHECK(window.hull.length <= buffer);
      for (std::int64_t i = done; i < done + window.data_bytes; ++i) {
        CHECK(window.hull.contains(offsets[static_cast<std::size_t>(i)]));
        if (i > done) {
          CHECK(offsets[static_cast<std::size_t>(i)] > offsets[static_cast<std::size_t>(i - 1)]);
        }
      }
      done += window.data_bytes;
    }
  }
}

}  // namespace nacre::collective
