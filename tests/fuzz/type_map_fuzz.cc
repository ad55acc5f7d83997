// libFuzzer target: decodes any bytes as a type map. What comes out must encode and decode to
// itself, and the cursor must agree with offset_of and bytes_before wherever it starts and whatever
// its limits.
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t group_count_max = 200;
constexpr std::int64_t offset_max = std::int64_t{1} << 60;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check_encoding(const TypeMap& map) {
  std::vector<std::byte> encoded;
  map.encode(encoded);
  std::span<const std::byte> in(encoded);
  const Result<TypeMap> again = TypeMap::decode(in);
  require(again.ok() && in.empty() && *again == map);
  require(map.size() >= 0 && map.run_count() <= map.size() && map.true_extent() >= 0);
}

/// How many copies of the map can be laid without leaving 64 bits.
std::int64_t copies_that_fit(const TypeMap& map) {
  const auto small = [](std::int64_t value) { return -offset_max < value && value < offset_max; };
  const bool all_small =
      small(map.extent()) && small(map.true_lb()) && small(map.true_extent()) && small(map.size());
  return all_small ? 3 : 1;
}

void check_byte(const TiledMap& map, std::int64_t position, std::int64_t offset) {
  require(offset_of(map, position) == offset);
  if (!map.type.tiles_monotone()) return;
  require(bytes_before(map, offset) == position);
  if (offset < INT64_MAX) require(bytes_before(map, offset + 1) == position + 1);
}

void check_walk(const TypeMap& map, std::minstd_rand& random) {
  const std::int64_t size = map.size() * copies_that_fit(map);
  const TiledMap tiled{map, 0};
  const auto pick = [&](std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random);
  };
  const std::int64_t first = pick(size);
  const std::int64_t count = 1 + pick(size - first);
  RunCursor cursor(tiled, first, count);
  std::int64_t at = first;
  for (std::int64_t groups = 0; groups < group_count_max && at < first + count; ++groups) {
    const std::int64_t limit = pick(2) == 0 ? 1 + pick(64) : INT64_MAX;
    const RunSeries group = cursor.next(limit);
    require(group.count > 0 && group.length > 0 && group.bytes() <= limit);
    for (const std::int64_t run : {std::int64_t{0}, pick(group.count), group.count - 1}) {
      const std::int64_t offset = group.offset + run * group.stride;
      check_byte(tiled, at + run * group.length, offset);
      check_byte(tiled, at + (run + 1) * group.length - 1, offset + group.length - 1);
    }
    at += group.bytes();
    require(cursor.remaining() == first + count - at);
  }
  if (at == first + count) require(cursor.next().count == 0);
}

void check(std::span<const std::byte> in) {
  std::minstd_rand random(static_cast<unsigned>(in.size()));
  const Result<TypeMap> map = TypeMap::decode(in);
  if (!map) return;
  check_encoding(*map);
  if (map->size() == 0) return;
  for (int walk = 0; walk < 3; ++walk) check_walk(*map, random);
}

}  // namespace
}  // namespace nacre::plan

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nacre::plan::check(std::as_bytes(std::span(data, size)));
  return 0;
}
