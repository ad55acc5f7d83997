// Goal: an encoded type decodes to an equal type, and decoding is safe for any input.
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "plan/types/type_map.h"
#include "type_oracle.h"

namespace nacre::plan {
namespace {

using fixtures::check_against;
using fixtures::TypeGenerator;
using fixtures::TypePair;

constexpr std::uint64_t seed = 20261140;

std::vector<std::byte> encoded(const TypeMap& map) {
  std::vector<std::byte> out;
  map.encode(out);
  return out;
}

Result<TypeMap> decoded(std::span<const std::byte> in) { return TypeMap::decode(in); }

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST_CASE("random types: decoding gives an equal map and consumes the whole encoding") {
  MESSAGE("seed " << seed);
  TypeGenerator generator(seed);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const TypePair pair = generator.any(static_cast<int>(generator.pick(0, 6)));
    std::vector<std::byte> bytes = encoded(pair.map);
    bytes.push_back(std::byte{42});
    std::span<const std::byte> in(bytes);
    const Result<TypeMap> map = TypeMap::decode(in);
    REQUIRE(map.ok());
    CHECK(in.size() == 1);
    CHECK(*map == pair.map);
    check_against(*map, pair.plain);
  }
}

TEST_CASE("random types: a truncated encoding is refused") {
  MESSAGE("seed " << seed + 1);
  TypeGenerator generator(seed + 1);
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    const std::vector<std::byte> bytes =
        encoded(generator.any(static_cast<int>(generator.pick(0, 6))).map);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      REQUIRE_FALSE(decoded(std::span(bytes).first(length)).ok());
    }
  }
}

TEST_CASE("random types: a changed byte gives an error or a valid map") {
  MESSAGE("seed " << seed + 2);
  TypeGenerator generator(seed + 2);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    std::vector<std::byte> bytes =
        encoded(generator.any(static_cast<int>(generator.pick(0, 6))).map);
    bytes[static_cast<std::size_t>(generator.pick(0, std::ssize(bytes) - 1))] =
        static_cast<std::byte>(generator.pick(0, 255));
    const Result<TypeMap> map = decoded(bytes);
    if (map.ok()) CHECK(*decoded(encoded(*map)) == *map);
  }
}

TEST_CASE("random lists of runs are encoded like the types of these runs") {
  MESSAGE("seed " << seed + 3);
  TypeGenerator generator(seed + 3);
  for (int i = 0; i < 5000; ++i) {
    CAPTURE(i);
    const std::int64_t count = generator.pick(1, 12);
    // Few lengths and gaps, so that runs often have equal lengths, a constant stride, or both.
    const std::int64_t lengths_max = generator.pick(1, 3);
    const std::int64_t gaps_max = generator.pick(1, 3);
    std::vector<Extent> runs;
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> lengths;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t begin = k == 0 ? 0 : runs.back().end() + generator.pick(1, gaps_max);
      runs.push_back({begin, generator.pick(1, lengths_max)});
      offsets.push_back(begin);
      lengths.push_back(runs.back().length);
    }
    std::vector<std::byte> bytes;
    TypeMap::encode_runs(runs, bytes);
    CHECK(bytes == encoded(TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value()));
  }
}

TEST_CASE("types at either end of 64 bits decode unchanged") {
  const std::vector<std::int64_t> ones(3, 1);
  for (const std::int64_t base : {INT64_MIN, INT64_MAX - 100}) {
    const std::vector<std::int64_t> at{base + 90, base, base + 17};
    const TypeMap child = *TypeMap::repeat(TypeMap::bytes(3), 2, 5);
    const TypeMap type = *TypeMap::indexed(child, ones, at);
    CHECK(*decoded(encoded(type)) == type);
  }
  const TypeMap wide = *TypeMap::bytes(INT64_MAX).resized(INT64_MIN, 5);
  CHECK(*decoded(encoded(wide)) == wide);
}

TEST_CASE("a regular view is encoded in a few bytes") {
  const TypeMap plane = *TypeMap::repeat(TypeMap::bytes(512), 1024, 4096);
  CHECK(encoded(*TypeMap::repeat(plane, 1024, 8 << 20)).size() < 40);
}

TEST_CASE("hostile encodings are refused") {
  // lb, ub, kind, shift, then the body: counts far beyond the input, unknown kinds, endless
  // varints.
  CHECK_FALSE(decoded({}).ok());
  CHECK_FALSE(decoded(bytes_of({0, 0, 4, 0})).ok());
  CHECK_FALSE(decoded(bytes_of({0, 0, 2, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 1})).ok());
  CHECK_FALSE(decoded(bytes_of({0, 0, 3, 0, 0xff, 0xff, 0xff, 0xff, 0x7f})).ok());
  CHECK_FALSE(decoded(bytes_of({0, 0, 2, 0, 1, 2, 0, 0, 0, 0, 1})).ok());
  CHECK_FALSE(decoded(std::vector<std::byte>(100, std::byte{0xff})).ok());
}

TEST_CASE("is_encodable() agrees with decoding") {
  TypeMap type = TypeMap::bytes(1);
  int encodable = 0;
  for (int level = 1; level <= 80; ++level) {
    const std::array<TypeMap::Field, 2> fields{
        {{0, 1, type.node()}, {type.extent() + 3, 1, TypeMap::bytes(2).node()}}};
    type = *TypeMap::structure(fields);
    CAPTURE(level);
    CHECK(type.is_encodable() == decoded(encoded(type)).ok());
    encodable += type.is_encodable() ? 1 : 0;
  }
  CHECK(encodable >= 60);
  CHECK(encodable < 80);
}

TEST_CASE("nesting beyond the limit is refused, for any length of input") {
  // Nested structures of one member each.
  std::vector<std::byte> bytes = bytes_of({0, 0});
  for (int i = 0; i < 1'000'000; ++i) {
    for (const int value : {3, 0, 1}) bytes.push_back(static_cast<std::byte>(value));
  }
  CHECK_FALSE(decoded(bytes).ok());
}

}  // namespace
}  // namespace nacre::plan
