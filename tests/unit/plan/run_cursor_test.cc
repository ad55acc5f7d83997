// Goal: the cursor yields exactly the bytes of the stream, in its order, whatever the start and the
// limits.
#include "plan/run_cursor.h"

#include <vector>

#include <doctest/doctest.h>

#include "plan/memory_access.h"
#include "type_oracle.h"

namespace nacre::plan {
namespace {

using testing::TypeGenerator;
using testing::TypePair;

constexpr std::uint64_t seed = 20261121;

std::vector<std::int64_t> tile(const TypePair& pair, std::int64_t origin, std::int64_t tiles) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t t = 0; t < tiles; ++t) {
    for (const std::int64_t byte : pair.plain.bytes) {
      offsets.push_back(origin + t * pair.plain.extent() + byte);
    }
  }
  return offsets;
}

TEST_CASE("random types: groups spell out the stream") {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 5)));
    if (pair.map.size() == 0) continue;
    const std::int64_t tiles = generator.pick(1, 3);
    const std::int64_t origin = generator.pick(-20, 20);
    const std::vector<std::int64_t> offsets = tile(pair, origin, tiles);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(0, std::ssize(offsets) - first);
    RunCursor cursor({pair.map, origin}, first, count);
    std::int64_t at = first;
    while (cursor.remaining() > 0) {
      const std::int64_t limit = generator.pick(1, 30);
      const RunGroup group = cursor.next(limit);
      REQUIRE(group.count > 0);
      REQUIRE(group.bytes() <= limit);
      for (std::int64_t k = 0; k < group.count; ++k) {
        for (std::int64_t b = 0; b < group.length; ++b) {
          REQUIRE(offsets[static_cast<std::size_t>(at++)] == group.offset + k * group.stride + b);
        }
      }
    }
    REQUIRE(at == first + count);
    CHECK(cursor.next().count == 0);
  }
}

TEST_CASE("a contiguous type is one run over all its copies") {
  RunCursor cursor({TypeMap::bytes(8), 100}, 3, 1000);
  CHECK(cursor.next() == RunGroup{103, 1000, 0, 1});
}

TEST_CASE("a strided type is one group") {
  const TypeMap type = *TypeMap::repeat(TypeMap::bytes(8), 1000, 24);
  RunCursor cursor({type, 0}, 0, 8000);
  CHECK(cursor.next() == RunGroup{0, 8, 24, 1000});
}

TEST_CASE("random accesses: a slice holds the bytes inside the domain") {
  MESSAGE("seed " << seed + 1);
  TypeGenerator generator(seed + 1);
  for (int i = 0; i < 5000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.monotone(static_cast<int>(generator.pick(0, 4)));
    if (pair.map.size() == 0) continue;
    const std::vector<std::int64_t> offsets = tile(pair, 0, 4);
    const std::int64_t first = generator.pick(0, std::ssize(offsets) - 1);
    const std::int64_t count = generator.pick(0, std::ssize(offsets) - first);
    const FileAccess access{{pair.map, 0}, first, count};
    const Extent domain{generator.pick(0, offsets.back()), generator.pick(0, 60)};
    const FileAccess part = slice(access, domain);
    std::int64_t expected = 0;
    for (std::int64_t p = first; p < first + count; ++p) {
      if (domain.contains(offsets[static_cast<std::size_t>(p)])) ++expected;
    }
    CHECK(part.byte_count == expected);
    if (expected > 0) CHECK(domain.contains(offset_of(part.view, part.first_byte)));
    if (count > 0) {
      const Extent all = bounds(access);
      CHECK(all.offset == offsets[static_cast<std::size_t>(first)]);
      CHECK(all.end() == offsets[static_cast<std::size_t>(first + count - 1)] + 1);
    }
  }
}

TEST_CASE("random types: pack, unpack and copy_runs move every byte to its place") {
  MESSAGE("seed " << seed + 2);
  TypeGenerator generator(seed + 2);
  for (int i = 0; i < 10000; ++i) {
    CAPTURE(i);
    const TypePair a = generator.any(static_cast<int>(generator.pick(0, 4)));
    const TypePair b = generator.monotone(static_cast<int>(generator.pick(0, 3)));
    if (a.map.size() == 0 || b.map.size() == 0) continue;
    constexpr std::int64_t middle = 20000;
    std::vector<std::byte> memory(2 * middle);
    for (std::size_t k = 0; k < memory.size(); ++k)
      memory[k] = static_cast<std::byte>(k * 7 + k / 256);
    const std::vector<std::int64_t> from = tile(a, 0, 2);
    const std::vector<std::int64_t> to = tile(b, 0, 50);
    const std::int64_t first = generator.pick(0, std::ssize(from) - 1);
    const std::int64_t count =
        generator.pick(0, std::min(std::ssize(from) - first, std::ssize(to)));

    const MemoryAccess access{memory.data() + middle, a.map, std::ssize(from)};
    std::vector<std::byte> packed(static_cast<std::size_t>(count));
    pack(access, first, packed);
    for (std::int64_t k = 0; k < count; ++k) {
      REQUIRE(packed[static_cast<std::size_t>(k)] ==
              memory[static_cast<std::size_t>(middle + from[static_cast<std::size_t>(first + k)])]);
    }

    std::vector<std::byte> file(static_cast<std::size_t>(to.back()) + 1, std::byte{0x55});
    RunCursor source({a.map, 0}, first, count);
    RunCursor target({b.map, 0}, 0, count);
    copy_runs(access.base, source, file.data(), target, count);
    std::size_t next = 0;
    for (std::size_t offset = 0; offset < file.size(); ++offset) {
      const bool written =
          next < static_cast<std::size_t>(count) && to[next] == static_cast<std::int64_t>(offset);
      REQUIRE(file[offset] == (written ? packed[next] : std::byte{0x55}));
      if (written) ++next;
    }
  }
}

}  // namespace
}  // namespace nacre::plan
