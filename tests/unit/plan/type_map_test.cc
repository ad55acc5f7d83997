// Goal: a type map says of every datatype what the plain list of its bytes says.
#include "plan/type_map.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "plan/run_cursor.h"
#include "type_oracle.h"

namespace nacre::plan {
namespace {

using testing::PlainType;
using testing::TypeGenerator;
using testing::TypePair;

constexpr std::uint64_t seed = 20261120;

bool plain_is_monotone(const std::vector<std::int64_t>& bytes) {
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] <= bytes[i - 1]) return false;
  }
  return true;
}

void check_against(const TypeMap& map, const PlainType& plain) {
  REQUIRE(map.size() == std::ssize(plain.bytes));
  CHECK(map.lb() == plain.lb);
  CHECK(map.extent() == plain.extent());
  if (plain.bytes.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(plain.bytes);
  CHECK(map.true_lb() == least);
  CHECK(map.true_extent() == greatest + 1 - least);
  CHECK(map.is_monotone() == plain_is_monotone(plain.bytes));
  for (std::int64_t i = 0; i < map.size(); ++i) {
    REQUIRE(offset_of({map, 0}, i) == plain.bytes[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("random types: sizes, bounds and offsets are those of the plain list") {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 5)));
    check_against(pair.map, pair.plain);
  }
}

TEST_CASE("random types: encoding and decoding keeps the layout") {
  MESSAGE("seed " << seed + 1);
  TypeGenerator generator(seed + 1);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 5)));
    std::vector<std::byte> encoded;
    pair.map.encode(encoded);
    std::span<const std::byte> in(encoded);
    const Result<TypeMap> decoded = TypeMap::decode(in);
    REQUIRE(decoded.ok());
    CHECK(in.empty());
    check_against(*decoded, pair.plain);
  }
}

TEST_CASE("random monotone views: bytes_before inverts offset_of, also between tiles") {
  MESSAGE("seed " << seed + 2);
  TypeGenerator generator(seed + 2);
  for (int i = 0; i < 5000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.monotone(static_cast<int>(generator.pick(0, 4)));
    if (pair.map.size() == 0) continue;
    REQUIRE(pair.map.tiles_monotone());
    const TiledMap view{pair.map, generator.pick(0, 50)};
    const std::int64_t tiles = 3;
    std::int64_t before = 0;
    std::vector<std::int64_t> offsets;
    for (std::int64_t t = 0; t < tiles; ++t) {
      for (const std::int64_t byte : pair.plain.bytes) {
        offsets.push_back(view.origin + t * pair.plain.extent() + byte);
      }
    }
    std::size_t next = 0;
    for (std::int64_t offset = 0; offset <= offsets.back(); ++offset) {
      REQUIRE(bytes_before(view, offset) == before);
      if (next < offsets.size() && offsets[next] == offset) {
        REQUIRE(offset_of(view, before) == offset);
        ++before;
        ++next;
      }
    }
  }
}

TEST_CASE("equal layouts made in different ways are equal maps") {
  const TypeMap cell = TypeMap::bytes(8);
  const std::array<std::int64_t, 3> ones{1, 1, 1};
  const std::array<std::int64_t, 3> steps{16, 48, 80};
  const TypeMap indexed = *TypeMap::indexed(cell, ones, steps);
  const std::array<TypeMap::Field, 3> fields{
      {{16, 1, cell.node()}, {48, 1, cell.node()}, {80, 1, cell.node()}}};
  CHECK(indexed == *TypeMap::structure(fields));
  CHECK(*TypeMap::repeat(*TypeMap::repeat(cell, 4, 8), 3, 32) == TypeMap::bytes(96));
}

TEST_CASE("a million equal blocks cost their displacements") {
  TypeGenerator generator(seed + 3);
  std::vector<std::int64_t> lengths(1'000'000, 1);
  std::vector<std::int64_t> displacements;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    displacements.push_back(next);
    next += 8 + generator.pick(1, 100);
  }
  const TypeMap map = *TypeMap::indexed(TypeMap::bytes(8), lengths, displacements);
  CHECK(map.run_count() == 1'000'000);
  CHECK(map.footprint_bytes() < 8'001'000);
}

TEST_CASE("sizes and bounds beyond 64 bits are refused") {
  const TypeMap big = TypeMap::bytes(std::int64_t{1} << 40);
  CHECK(TypeMap::repeat(big, std::int64_t{1} << 40, 0).error().error_class == ErrorClass::type);
  CHECK_FALSE(TypeMap::repeat(big, 3, std::int64_t{1} << 62).ok());
  CHECK_FALSE(big.resized(1, INT64_MAX).ok());
  CHECK_FALSE(TypeMap::repeat(big, -1, 0).ok());
}

}  // namespace
}  // namespace nacre::plan
