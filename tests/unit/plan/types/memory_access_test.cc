// Goal: packing, unpacking and copying move every byte to its position and change no other byte.
#include "plan/types/memory_access.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "type_oracle.h"

namespace nacre::plan {
namespace {

using fixtures::tile;
using fixtures::TypeGenerator;
using fixtures::TypePair;

constexpr std::uint64_t seed = 20261130;

TEST_CASE("random types: pack, unpack and copy_runs move every byte to its position") {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 10000; ++i) {
    CAPTURE(i);
    const TypePair a = generator.any(static_cast<int>(generator.pick(0, 4)));
    const TypePair b = generator.monotone(static_cast<int>(generator.pick(0, 3)));
    if (a.map.size() == 0 || b.map.size() == 0) continue;
    constexpr std::int64_t middle = 20000;
    std::vector<std::byte> memory(2 * middle);
    for (std::size_t k = 0; k < memory.size(); ++k)
      memory[k] = static_cast<std::byte>(k * 7 + k / 256);
    const std::vector<std::int64_t> from = tile(a.plain, 0, 2);
    const std::vector<std::int64_t> to = tile(b.plain, 0, 50);
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

    std::vector<std::byte> filled(memory.size(), std::byte{0x55});
    unpack({filled.data() + middle, b.map, std::ssize(to)}, 0, packed);
    RunCursor plain_source({TypeMap::bytes(1), 0}, 0, count);
    RunCursor plain_target({b.map, 0}, 0, count);
    std::vector<std::byte> copied(memory.size(), std::byte{0x55});
    copy_runs(packed.data(), plain_source, copied.data() + middle, plain_target, count);
    REQUIRE(filled == copied);
  }
}

TEST_CASE("runs of every short length, strided on either side or both") {
  constexpr std::int64_t count = 7;
  for (std::int64_t length = 1; length <= 130; ++length) {
    CAPTURE(length);
    const std::int64_t bytes = length * count;
    const TiledMap loose{*TypeMap::repeat(TypeMap::bytes(length), count, length + 3), 0};
    const TiledMap looser{*TypeMap::repeat(TypeMap::bytes(length), count, length + 5), 0};
    const TiledMap tight{TypeMap::bytes(bytes), 0};
    for (const auto& [from, to] : {std::pair(loose, looser), {loose, tight}, {tight, loose}}) {
      std::vector<std::byte> source(2 * static_cast<std::size_t>(bytes) + 64);
      for (std::size_t k = 0; k < source.size(); ++k) source[k] = static_cast<std::byte>(k % 251);
      std::vector<std::byte> target(source.size(), std::byte{0xff});
      std::vector<std::byte> expected = target;
      for (std::int64_t p = 0; p < bytes; ++p) {
        expected[static_cast<std::size_t>(offset_of(to, p))] =
            source[static_cast<std::size_t>(offset_of(from, p))];
      }
      RunCursor reads(from, 0, bytes);
      RunCursor writes(to, 0, bytes);
      copy_runs(source.data(), reads, target.data(), writes, bytes);
      REQUIRE(target == expected);
    }
  }
}

TEST_CASE("a partial copy between two cursors leaves both directly after it") {
  std::vector<std::byte> source(300);
  for (std::size_t k = 0; k < source.size(); ++k) source[k] = static_cast<std::byte>(k);
  std::vector<std::byte> target(100);
  RunCursor from({*TypeMap::repeat(TypeMap::bytes(10), 10, 30), 0}, 0, 100);
  RunCursor to({TypeMap::bytes(100), 0}, 0, 100);
  copy_runs(source.data(), from, target.data(), to, 37);
  CHECK(from.remaining() == 63);
  CHECK(to.remaining() == 63);
  copy_runs(source.data(), from, target.data(), to, 63);
  for (std::size_t p = 0; p < 100; ++p) REQUIRE(target[p] == source[p / 10 * 30 + p % 10]);
}

TEST_CASE("a null base with absolute addresses is MPI_BOTTOM") {
  std::vector<std::byte> memory(40, std::byte{7});
  const std::int64_t address = std::bit_cast<std::intptr_t>(memory.data());
  const std::int64_t one = 1;
  const TypeMap type = *TypeMap::indexed(*TypeMap::repeat(TypeMap::bytes(4), 2, 8),
                                         std::span(&one, 1), std::span(&address, 1));
  std::vector<std::byte> packed(8);
  pack({nullptr, type, 8}, 0, packed);
  CHECK(packed == std::vector<std::byte>(8, std::byte{7}));
  unpack({nullptr, type, 8}, 0, std::vector<std::byte>(8, std::byte{9}));
  for (std::size_t k = 0; k < memory.size(); ++k) {
    CHECK(memory[k] == ((k < 4 || (k >= 8 && k < 12)) ? std::byte{9} : std::byte{7}));
  }
}

}  // namespace
}  // namespace nacre::plan
