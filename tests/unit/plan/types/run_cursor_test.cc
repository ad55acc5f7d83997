// Goal: the cursor yields exactly the bytes of the stream, in order, for any start and limits.
#include "plan/types/run_cursor.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "type_oracle.h"

namespace nacre::plan {
namespace {

using fixtures::tile;
using fixtures::TypeGenerator;
using fixtures::TypePair;

constexpr std::uint64_t seed = 20261121;

/// Checks with random types, starts, ends and limits that `next(cursor, generator, limit)` yields
/// the bytes of the stream.
template <class Next>
void check_streams(std::int64_t limit_max, const Next& next) {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 6)));
    if (pair.map.size() == 0) continue;
    const std::int64_t tiles = generator.pick(1, 3);
    const std::int64_t origin = generator.pick(-20, 20);
    const std::vector<std::int64_t> offsets = tile(pair.plain, origin, tiles);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(0, std::ssize(offsets) - first);
    RunCursor cursor({pair.map, origin}, first, count);
    std::int64_t at = first;
    while (cursor.remaining() > 0) {
      const std::int64_t limit = generator.pick(1, limit_max);
      const RunRows rows = next(cursor, generator, limit);
      REQUIRE(rows.rows > 0);
      REQUIRE(rows.row.count > 0);
      REQUIRE(rows.bytes() <= limit);
      for (std::int64_t row = 0; row < rows.rows; ++row) {
        const std::int64_t begin = rows.row.offset + row * rows.row_stride;
        for (std::int64_t k = 0; k < rows.row.count; ++k) {
          for (std::int64_t b = 0; b < rows.row.length; ++b) {
            REQUIRE(offsets[static_cast<std::size_t>(at++)] == begin + k * rows.row.stride + b);
          }
        }
      }
    }
    REQUIRE(at == first + count);
    CHECK(cursor.next().count == 0);
    CHECK(cursor.next_rows().rows == 0);
  }
}

TEST_CASE("random types: series yield the stream") {
  check_streams(30, [](RunCursor& cursor, TypeGenerator&, std::int64_t limit) {
    return RunRows{cursor.next(limit), 1, 0};
  });
}

TEST_CASE("random types: rows and the series between them yield the stream") {
  check_streams(200, [](RunCursor& cursor, TypeGenerator& generator, std::int64_t limit) {
    return generator.pick(0, 3) == 0 ? RunRows{cursor.next(limit), 1, 0} : cursor.next_rows(limit);
  });
}

TEST_CASE("a block of an array is one set of rows") {
  const TypeMap row = *TypeMap::repeat(TypeMap::bytes(8), 10, 24);
  const TypeMap block = *TypeMap::repeat(row, 5, 1'000);
  RunCursor cursor({block, 0}, 0, 400);
  const RunRows rows = cursor.next_rows();
  CHECK(rows.row == RunSeries{0, 8, 24, 10});
  CHECK(rows.rows == 5);
  CHECK(rows.row_stride == 1'000);
}

TEST_CASE("a contiguous type is one run over all its copies") {
  RunCursor cursor({TypeMap::bytes(8), 100}, 3, 1000);
  CHECK(cursor.next() == RunSeries{103, 1000, 0, 1});
}

TEST_CASE("a strided type is one group") {
  const TypeMap type = *TypeMap::repeat(TypeMap::bytes(8), 1000, 24);
  RunCursor cursor({type, 0}, 0, 8000);
  CHECK(cursor.next() == RunSeries{0, 8, 24, 1000});
}

TEST_CASE("the bounds of a monotone view are its first and last byte") {
  MESSAGE("seed " << seed + 1);
  TypeGenerator generator(seed + 1);
  for (int i = 0; i < 5000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.monotone(static_cast<int>(generator.pick(0, 4)));
    if (pair.map.size() == 0) continue;
    const std::vector<std::int64_t> offsets = tile(pair.plain, 0, 4);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(0, std::ssize(offsets) - first);
    if (count == 0) continue;
    const Extent all = bounds({{pair.map, 0}, first, count});
    CHECK(all.offset == offsets[static_cast<std::size_t>(first)]);
    CHECK(all.end() == offsets[static_cast<std::size_t>(first + count - 1)] + 1);
  }
}

TEST_CASE("an access announces the rest of the copy of the view's type in which it ends") {
  TypeGenerator generator(seed + 3);
  MESSAGE("seed " << seed + 3);
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.monotone(static_cast<int>(generator.pick(0, 4)));
    if (pair.map.size() == 0) continue;
    const std::vector<std::int64_t> offsets = tile(pair.plain, 5, 4);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(1, std::ssize(offsets) - first);
    const std::int64_t copies = (first + count + pair.map.size() - 1) / pair.map.size();
    const auto last = static_cast<std::size_t>(copies * pair.map.size() - 1);
    CHECK(end_of_last_copy({{pair.map, 5}, first, count}) == offsets[last] + 1);
  }
  CHECK(end_of_last_copy({{TypeMap::bytes(8), 5}, 3, 0}) == 0);
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  CHECK(end_of_last_copy({{TypeMap::bytes(100), end - 10}, 0, 7}) == end - 3);
}

TEST_CASE("the bounds of a view with decreasing offsets contain all its bytes") {
  MESSAGE("seed " << seed + 2);
  TypeGenerator generator(seed + 2);
  for (int i = 0; i < 5000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 4)));
    if (pair.map.size() == 0) continue;
    const std::vector<std::int64_t> offsets = tile(pair.plain, 7, 3);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(1, std::ssize(offsets) - first);
    const Extent all = bounds({{pair.map, 7}, first, count});
    for (std::int64_t p = first; p < first + count; ++p) {
      REQUIRE(all.contains(offsets[static_cast<std::size_t>(p)]));
    }
  }
}

TEST_CASE("the rows of a 3-D subarray are yielded plane by plane") {
  // 4 planes of 8 rows of 16 bytes, in an array with 16 rows of 32 bytes per plane.
  const TypeMap plane = *TypeMap::repeat(TypeMap::bytes(16), 8, 32);
  RunCursor cursor({*TypeMap::repeat(plane, 4, 512), 0}, 0, 512);
  for (std::int64_t k = 0; k < 4; ++k) CHECK(cursor.next() == RunSeries{k * 512, 16, 32, 8});
  CHECK(cursor.next().count == 0);
}

TEST_CASE("copies of a strided type that continue each other are one group") {
  const TypeMap type = *TypeMap::repeat(TypeMap::bytes(8), 10, 24)->resized(0, 240);
  RunCursor cursor({type, 5}, 80, 800);
  CHECK(cursor.next() == RunSeries{5 + 240, 8, 24, 100});
}

TEST_CASE("a limit inside a run yields the part before the limit, then the rest") {
  RunCursor cursor({*TypeMap::repeat(TypeMap::bytes(8), 3, 10), 0}, 0, 24);
  CHECK(cursor.next(3) == RunSeries{0, 3, 0, 1});
  CHECK(cursor.next(20) == RunSeries{3, 5, 0, 1});
  CHECK(cursor.next(15) == RunSeries{10, 8, 0, 1});
  CHECK(cursor.remaining() == 8);
  CHECK(cursor.next() == RunSeries{20, 8, 0, 1});
}

TEST_CASE("a copy of a cursor advances independently, also after the map is destroyed") {
  RunCursor cursor;
  {
    const std::vector<std::int64_t> ones(3, 1);
    const std::vector<std::int64_t> displacements{0, 10, 50};
    const TypeMap type = *TypeMap::indexed(TypeMap::bytes(4), ones, displacements);
    cursor = RunCursor({type, 0}, 0, 12);
  }
  CHECK(cursor.next().offset == 0);
  RunCursor copy = cursor;
  CHECK(cursor.next().offset == 10);
  CHECK(cursor.next().offset == 50);
  CHECK(copy.next().offset == 10);
}

}  // namespace
}  // namespace nacre::plan
