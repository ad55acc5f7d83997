// external32: large and noncontiguous memory is converted in batches, and back without a change.
#include "file/conversion/external32.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::file {
namespace {

using Bytes = std::vector<std::byte>;

plan::TypeSignature ints(std::int64_t count) {
  return plan::TypeSignature::basic({plan::BasicKind::signed_integer, 4, 4}, count);
}

/// The type long of C: 8 bytes here, 4 in external32.
plan::TypeSignature longs(std::int64_t count) {
  return plan::TypeSignature::basic({plan::BasicKind::signed_integer, 8, 4}, count);
}

template <class T>
plan::MemoryAccess contiguous(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), plan::TypeMap::bytes(sizeof(T)),
          static_cast<std::int64_t>(values.size() * sizeof(T))};
}

}  // namespace

TEST_CASE("integers are big-endian") {
  std::vector<std::int32_t> values{0x01020304, -2};
  const auto converter = external32_converter(ints(1));
  CHECK(converter->file_bytes(8).value() == 8);
  Bytes file(8);
  REQUIRE(converter->to_file(contiguous(values), file).ok());
  const std::vector<int> expected{1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe};
  for (std::size_t i = 0; i < file.size(); ++i) CHECK(file[i] == std::byte(expected[i]));
}

TEST_CASE(
    "more than a batch of elements that are shorter in external32, from memory with gaps, and "
    "back") {
  constexpr std::int64_t count = 100'003;
  std::vector<std::int64_t> values(2 * count);
  std::iota(values.begin(), values.end(), -70'000);
  const auto memory_of = [](std::vector<std::int64_t>& all) {
    return plan::MemoryAccess{reinterpret_cast<std::byte*>(all.data()),
                              plan::TypeMap::bytes(8).resized(0, 16).value(), 8 * count};
  };
  const auto converter = external32_converter(longs(1));
  REQUIRE(converter->file_bytes(8 * count).value() == 4 * count);
  Bytes file(4 * count);
  REQUIRE(converter->to_file(memory_of(values), file).ok());
  std::vector<std::int64_t> back(2 * count, 7);
  REQUIRE(converter->from_file(memory_of(back), file).ok());
  for (std::size_t i = 0; i < 2 * count; i += 2) {
    if (back[i] != values[i] || back[i + 1] != 7) FAIL("at ", i);
  }
}

TEST_CASE("a part of the file fills the basic elements that it contains completely") {
  std::vector<std::int64_t> values(6, 5);
  const auto converter = external32_converter(longs(2));
  plan::MemoryAccess memory = contiguous(values);
  memory.type = plan::TypeMap::bytes(16);
  Bytes file(24);
  REQUIRE(converter->to_file(memory, file).ok());
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    CAPTURE(bytes);
    const auto whole = static_cast<std::int64_t>(bytes / 4);
    CHECK(converter->whole_part(static_cast<std::int64_t>(bytes)) ==
          plan::StreamPart{8 * whole, 4 * whole, whole});
    std::vector<std::int64_t> back(6, 7);
    memory.base = reinterpret_cast<std::byte*>(back.data());
    REQUIRE(converter->from_file(memory, std::span(file).first(bytes)).ok());
    CHECK(std::ranges::count(back, 5) == whole);
    CHECK(std::ranges::count(back, 7) == 6 - whole);
    CHECK(std::ranges::is_sorted(back));
  }
}

TEST_CASE("a partial element after more than a batch of whole elements, into memory with gaps") {
  constexpr std::int64_t pairs = 40'001;
  // Two longs, 24 bytes from pair to pair.
  const auto memory_of = [](std::vector<std::int64_t>& all) {
    return plan::MemoryAccess{reinterpret_cast<std::byte*>(all.data()),
                              plan::TypeMap::bytes(16).resized(0, 24).value(), 16 * pairs};
  };
  std::vector<std::int64_t> values(3 * pairs);
  std::iota(values.begin(), values.end(), 1);
  const auto converter = external32_converter(longs(2));
  Bytes file(8 * pairs);
  REQUIRE(converter->to_file(memory_of(values), file).ok());
  std::vector<std::int64_t> back(3 * pairs, 0);
  REQUIRE(converter->from_file(memory_of(back), std::span(file).first(8 * pairs - 1)).ok());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool filled = i % 3 != 2 && i != values.size() - 2;
    if (back[i] != (filled ? values[i] : 0)) FAIL("at ", i);
  }
}

TEST_CASE("a value that does not fit external32 is a conversion error, also in a later batch") {
  std::vector<std::int64_t> values(100'000, 1);
  values.back() = std::int64_t{1} << 40;
  const auto converter = external32_converter(longs(1));
  Bytes file(400'000);
  const Status done = converter->to_file(contiguous(values), file);
  REQUIRE_FALSE(done.ok());
  CHECK(done.error().error_class == ErrorClass::conversion);
}

TEST_CASE("a signature without data converts nothing") {
  const auto converter = external32_converter(plan::TypeSignature());
  CHECK(converter->file_bytes(0).value() == 0);
  CHECK(converter->to_file({}, {}).ok());
  CHECK(converter->from_file({}, {}).ok());
}

}  // namespace nacre::file
