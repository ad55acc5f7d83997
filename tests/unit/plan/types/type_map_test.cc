// Goal: a type map agrees with the plain list of the bytes of every datatype.
#include "plan/types/type_map.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "plan/types/run_cursor.h"
#include "type_oracle.h"

namespace nacre::plan {
namespace {

using fixtures::check_against;
using fixtures::PlainType;
using fixtures::TypeGenerator;
using fixtures::TypePair;

constexpr std::uint64_t seed = 20261120;

TEST_CASE("random types: sizes, bounds and offsets agree with the plain list") {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 6)));
    check_against(pair.map, pair.plain);
  }
}

TEST_CASE("displacements decrease where a block begins before the block before it") {
  const auto type = [](const std::vector<std::int64_t>& lengths,
                       const std::vector<std::int64_t>& displacements) {
    return TypeMap::indexed(TypeMap::bytes(1), lengths, displacements).value();
  };
  const TypeMap overlapping = type({4, 4}, {0, 2});
  CHECK(overlapping.is_nondecreasing());
  CHECK_FALSE(overlapping.is_monotone());
  CHECK(type({4, 4, 2}, {0, 0, 3}).is_nondecreasing());
  CHECK_FALSE(type({4, 4, 2}, {0, 8, 6}).is_nondecreasing());
  CHECK(TypeMap::repeat(overlapping, 3, 2)->is_nondecreasing());
  CHECK_FALSE(TypeMap::repeat(overlapping, 3, 1)->is_nondecreasing());
  CHECK_FALSE(TypeMap::repeat(overlapping, 3, -20)->is_nondecreasing());
  const auto both = [&](std::int64_t second) {
    const std::vector<TypeMap::Field> fields{{0, 1, overlapping.node()},
                                             {second, 1, overlapping.node()}};
    return TypeMap::structure(fields).value();
  };
  CHECK(both(2).is_nondecreasing());
  CHECK_FALSE(both(1).is_nondecreasing());
}

TEST_CASE("gaps are counted as in the plain list, wide ones too") {
  const auto agrees = [](const TypeMap& map) {
    std::vector<std::int64_t> bytes;
    for (std::int64_t i = 0; i < map.size(); ++i) bytes.push_back(offset_of({map, 0}, i));
    const fixtures::Gaps gaps = fixtures::gaps_of(bytes);
    CHECK(gaps.wide_count > 0);
    CHECK(map.wide_gap_count() == gaps.wide_count);
    CHECK(map.near_gap_bytes() == gaps.near_bytes);
  };
  const TypeMap rows = TypeMap::repeat(TypeMap::bytes(3), 4, 10).value();
  agrees(TypeMap::repeat(rows, 3, 20'000).value());
  const std::vector<std::int64_t> lengths{1, 3, 2};
  const std::vector<std::int64_t> displacements{5, 30'000, 30'200};
  agrees(TypeMap::indexed(rows, lengths, displacements).value());
  agrees(
      TypeMap::repeat(TypeMap::indexed(rows, lengths, displacements).value(), 2, 90'000).value());
  const TypeMap planes = TypeMap::repeat(rows, 3, 20'000).value();
  const std::vector<TypeMap::Field> fields{
      {7, 1, TypeMap::bytes(2).node()}, {40, 1, planes.node()}, {90'000, 2, rows.node()}};
  agrees(TypeMap::structure(fields).value());
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

TEST_CASE("equal types from different constructors are equal maps") {
  const TypeMap cell = TypeMap::bytes(8);
  const std::array<std::int64_t, 3> ones{1, 1, 1};
  const std::array<std::int64_t, 3> steps{16, 48, 80};
  const TypeMap indexed = *TypeMap::indexed(cell, ones, steps);
  const std::array<TypeMap::Field, 3> fields{
      {{16, 1, cell.node()}, {48, 1, cell.node()}, {80, 1, cell.node()}}};
  CHECK(indexed == *TypeMap::structure(fields));
  CHECK(indexed.run_count() == 3);
  const TypeMap vector = *TypeMap::repeat(cell, 3, 32);
  const std::int64_t one = 1;
  const std::int64_t offset = 16;
  CHECK(indexed == *TypeMap::indexed(vector, std::span(&one, 1), std::span(&offset, 1)));
  CHECK(*TypeMap::repeat(*TypeMap::repeat(cell, 4, 20), 3, 80) == *TypeMap::repeat(cell, 12, 20));
  const std::array<std::int64_t, 3> lengths{4, 8, 4};
  const std::array<std::int64_t, 3> pieces{0, 8, 40};
  const std::array<std::int64_t, 3> pairs{2, 4, 2};
  CHECK(*TypeMap::indexed(TypeMap::bytes(1), lengths, pieces) ==
        *TypeMap::indexed(TypeMap::bytes(2), pairs, pieces));
  CHECK(*TypeMap::repeat(*TypeMap::repeat(cell, 4, 8), 3, 32) == TypeMap::bytes(96));
}

TEST_CASE("bytes_before accepts any offset") {
  const TypeMap type = *TypeMap::repeat(TypeMap::bytes(2), 3, 10)->resized(0, 100);
  const TiledMap map{type, 50};
  CHECK(bytes_before(map, INT64_MIN) == 0);
  CHECK(bytes_before(map, 50) == 0);
  CHECK(bytes_before(map, 51) == 1);
  CHECK(bytes_before(map, INT64_MAX) == (INT64_MAX - 50) / 100 * 6 + 6);
  const TiledMap low{type, -1000};
  CHECK(bytes_before(low, INT64_MAX) == INT64_MAX / 100 * 6 + 2);
  const TypeMap loose = *TypeMap::bytes(4).resized(-3, INT64_MAX - 3);
  CHECK(bytes_before({loose, 9}, INT64_MAX) == 4);
}

TEST_CASE("bounds of empty and resized types follow the MPI standard") {
  const TypeMap empty = *TypeMap::bytes(0).resized(-3, 10);
  CHECK(TypeMap::repeat(empty, 2, 100)->lb() == -3);
  CHECK(TypeMap::repeat(empty, 2, 100)->extent() == 110);
  CHECK(TypeMap::repeat(empty, 0, 100)->extent() == 0);
  const std::array<TypeMap::Field, 3> fields{{{100, 1, empty.node()},
                                              {0, 2, TypeMap::bytes(4).node()},
                                              {500, 0, TypeMap::bytes(4).node()}}};
  const TypeMap record = *TypeMap::structure(fields);
  CHECK(record.lb() == 0);
  CHECK(record.extent() == 107);
  CHECK(record.true_extent() == 8);
  CHECK(*record.resized(0, 8) == TypeMap::bytes(8));
  CHECK(record.resized(0, 8)->is_contiguous());
  CHECK_FALSE(record.resized(-1, 8)->is_contiguous());
  CHECK_FALSE(record.is_contiguous());
}

TEST_CASE("a million blocks take the memory of their lists only") {
  TypeGenerator generator(seed + 3);
  const std::size_t count = 1'000'000;
  std::vector<std::int64_t> displacements;
  std::vector<std::int64_t> lengths;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    displacements.push_back(next);
    lengths.push_back(generator.pick(1, 4));
    next += 32 + generator.pick(1, 100);
  }
  const TypeMap uneven = *TypeMap::indexed(TypeMap::bytes(8), lengths, displacements);
  CHECK(uneven.run_count() == 1'000'000);
  CHECK(uneven.footprint_bytes() < 8'100'000);
  lengths.assign(count, 3);
  const TypeMap even = *TypeMap::indexed(TypeMap::bytes(8), lengths, displacements);
  CHECK(even.run_count() == 1'000'000);
  CHECK(even.footprint_bytes() < 4'100'000);
  for (std::int64_t& displacement : displacements) displacement *= std::int64_t{1} << 26;
  const TypeMap far = *TypeMap::indexed(TypeMap::bytes(8), lengths, displacements);
  CHECK(far.footprint_bytes() < 8'100'000);
  CHECK(offset_of({far, 0}, 24 * 777'777 + 5) == displacements[777'777] + 5);
}

TEST_CASE("sizes and bounds beyond 64 bits are refused") {
  const TypeMap big = TypeMap::bytes(std::int64_t{1} << 40);
  CHECK(TypeMap::repeat(big, std::int64_t{1} << 40, 0).error().error_class == ErrorClass::type);
  CHECK_FALSE(TypeMap::repeat(big, 3, std::int64_t{1} << 62).ok());
  CHECK_FALSE(TypeMap::repeat(big, INT64_MAX, INT64_MIN).ok());
  CHECK_FALSE(big.resized(1, INT64_MAX).ok());
  CHECK(big.resized(0, INT64_MAX).ok());
  CHECK_FALSE(TypeMap::repeat(big, -1, 0).ok());
  const TypeMap cell = TypeMap::bytes(8);
  const std::array<std::int64_t, 2> ones{1, 1};
  const std::array<std::int64_t, 2> negative{1, -1};
  const std::array<std::int64_t, 2> apart{INT64_MIN + 8, INT64_MAX - 8};
  CHECK_FALSE(TypeMap::indexed(cell, ones, apart).ok());
  CHECK_FALSE(TypeMap::indexed(cell, negative, ones).ok());
  const std::array<TypeMap::Field, 2> fields{
      {{0, 1, TypeMap::bytes(INT64_MAX).node()}, {0, 1, TypeMap::bytes(INT64_MAX).node()}}};
  CHECK_FALSE(TypeMap::structure(fields).ok());
}

TEST_CASE("types at either end of 64 bits have the right offsets") {
  const std::array<std::int64_t, 3> ones{1, 1, 1};
  for (const std::int64_t base : {INT64_MIN, INT64_MAX - 100}) {
    const std::array<std::int64_t, 3> at{base + 90, base, base + 17};
    const TypeMap child = *TypeMap::repeat(TypeMap::bytes(3), 2, 5);
    const TypeMap type = *TypeMap::indexed(child, ones, at);
    CHECK(type.true_lb() == base);
    CHECK(type.true_extent() == 98);
    CHECK(offset_of({type, 0}, 0) == base + 90);
    CHECK(offset_of({type, 0}, 11) == base + 7);
    CHECK(offset_of({type, 0}, 17) == base + 24);
  }
}

TEST_CASE("copies_fit: offsets and spans within 64 bits, at either end") {
  constexpr std::int64_t quarter = std::int64_t{1} << 61;
  const TypeMap up = *TypeMap::bytes(1).resized(0, quarter);
  CHECK(copies_fit(up, 0));
  CHECK(copies_fit(up, 4));
  CHECK_FALSE(copies_fit(up, 5));
  CHECK_FALSE(copies_fit(up, std::numeric_limits<std::int64_t>::max()));
  const TypeMap down = *TypeMap::bytes(1).resized(quarter, -quarter);
  CHECK(copies_fit(down, 4));
  CHECK_FALSE(copies_fit(down, 6));
  CHECK(copies_fit(TypeMap::bytes(quarter), 3));
  CHECK_FALSE(copies_fit(TypeMap::bytes(quarter), 4));
}

TEST_CASE("adjacent fields whose total length overflows are an error") {
  constexpr std::int64_t half = std::int64_t{1} << 62;
  const auto part = TypeMap::bytes(half).node();
  const std::array<TypeMap::Field, 3> fields{
      {{-half - half, 1, part}, {-half, 1, part}, {0, 1, part}}};
  CHECK_FALSE(TypeMap::structure(fields).ok());
}

}  // namespace
}  // namespace nacre::plan
