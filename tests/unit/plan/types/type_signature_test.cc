// Goal: external32 follows MPI-4.1, 14.5.2 for every kind of element, and converts back unchanged.
#include "plan/types/type_signature.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

constexpr std::uint64_t seed = 20261150;
constexpr BasicType int4{BasicKind::signed_integer, 4, 4};
constexpr BasicType long_int{BasicKind::signed_integer, 8, 4};
constexpr BasicType long_unsigned{BasicKind::unsigned_integer, 8, 4};
constexpr BasicType real8{BasicKind::real, 8, 8};
constexpr BasicType text{BasicKind::opaque, 1, 1};
constexpr BasicType wide_flag{BasicKind::boolean, 4, 1};
constexpr BasicType complex4{BasicKind::real, 4, 4, 2};
constexpr BasicType long_real{BasicKind::long_double, 16, 16};

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

template <class T>
Bytes native(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Result<Bytes> external(const TypeSignature& signature, const Bytes& native_bytes,
                       std::int64_t count = 1) {
  Bytes out(static_cast<std::size_t>(count * signature.file_size()));
  if (Status done = to_external32(signature, count, native_bytes, out); !done) {
    return std::move(done).error();
  }
  return out;
}

Result<Bytes> internal(const TypeSignature& signature, const Bytes& external_bytes,
                       std::int64_t count = 1) {
  Bytes out(static_cast<std::size_t>(count * signature.native_size()));
  if (Status done = from_external32(signature, count, external_bytes, out); !done) {
    return std::move(done).error();
  }
  return out;
}

template <class T>
void check_both_ways(BasicType type, T value, const Bytes& expected) {
  const TypeSignature signature = TypeSignature::basic(type);
  CHECK(*external(signature, native(value)) == expected);
  CHECK(*internal(signature, expected) == native(value));
}

TEST_CASE("integers and reals of any width are big-endian") {
  check_both_ways<std::int32_t>(int4, 0x01020304, bytes_of({1, 2, 3, 4}));
  check_both_ways<std::int16_t>({BasicKind::signed_integer, 2, 2}, -2, bytes_of({0xff, 0xfe}));
  check_both_ways<double>(real8, 1.0, bytes_of({0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
  check_both_ways<float>({BasicKind::real, 4, 4}, -2.0F, bytes_of({0xc0, 0, 0, 0}));
  check_both_ways<std::uint8_t>({BasicKind::unsigned_integer, 1, 1}, 200, bytes_of({200}));
  check_both_ways<std::uint8_t>(text, 65, bytes_of({65}));
}

TEST_CASE("a complex is one element whose two parts are converted separately") {
  check_both_ways<std::array<float, 2>>(complex4, {1.0F, -2.0F},
                                        bytes_of({0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}));
  const TypeSignature three = TypeSignature::basic(complex4, 3);
  CHECK(three.native_size() == 24);
  CHECK(three.element_count() == 3);
  CHECK(whole_elements(three, 15) == StreamPart{8, 8, 1});
}

TEST_CASE("integers that are narrower in external32 keep their value or fail") {
  check_both_ways<std::int64_t>(long_int, -2, bytes_of({0xff, 0xff, 0xff, 0xfe}));
  check_both_ways<std::int64_t>(long_int, INT32_MAX, bytes_of({0x7f, 0xff, 0xff, 0xff}));
  check_both_ways<std::int64_t>(long_int, INT32_MIN, bytes_of({0x80, 0, 0, 0}));
  check_both_ways<std::uint64_t>(long_unsigned, UINT32_MAX, bytes_of({0xff, 0xff, 0xff, 0xff}));
  const TypeSignature signature = TypeSignature::basic(long_int);
  for (const std::int64_t value :
       {std::int64_t{INT32_MAX} + 1, std::int64_t{INT32_MIN} - 1, INT64_MAX, INT64_MIN}) {
    CAPTURE(value);
    const Result<Bytes> failed = external(signature, native(value));
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().error_class == ErrorClass::conversion);
  }
  const auto above = std::uint64_t{UINT32_MAX} + 1;
  CHECK_FALSE(external(TypeSignature::basic(long_unsigned), native(above)).ok());
}

TEST_CASE("integers that are narrower in memory fail if they do not fit") {
  const TypeSignature wide = TypeSignature::basic({BasicKind::signed_integer, 4, 8});
  CHECK(*internal(wide, bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd})) ==
        native<std::int32_t>(-3));
  CHECK_FALSE(internal(wide, bytes_of({0, 0, 0, 1, 0, 0, 0, 0})).ok());
  CHECK_FALSE(internal(wide, bytes_of({0, 0, 0, 0, 0x80, 0, 0, 0})).ok());
}

TEST_CASE("logicals keep their value at any width") {
  check_both_ways<std::int32_t>(wide_flag, 1, bytes_of({1}));
  check_both_ways<std::int32_t>(wide_flag, 0, bytes_of({0}));
  CHECK(*external(TypeSignature::basic(wide_flag), native<std::int32_t>(256)) == bytes_of({1}));
  check_both_ways<std::int32_t>({BasicKind::boolean, 4, 4}, -1, bytes_of({255, 255, 255, 255}));
}

#if defined(__SIZEOF_FLOAT128__) && defined(__x86_64__)
__extension__ using Quad = __float128;  // the compiler provides its conversions

Bytes big_endian(Quad value) {
  Bytes bytes = native(value);
  std::ranges::reverse(bytes);
  return bytes;
}

Bytes memory_of(std::uint16_t head, std::uint64_t significand) {
  Bytes bytes(16);
  std::memcpy(bytes.data(), &significand, 8);
  std::memcpy(bytes.data() + 8, &head, 2);
  return bytes;
}

void check_long_double(std::uint16_t head, std::uint64_t significand) {
  CAPTURE(head);
  CAPTURE(significand);
  const TypeSignature signature = TypeSignature::basic(long_real);
  const Bytes memory = memory_of(head, significand);
  long double value = 0;
  std::memcpy(&value, memory.data(), 16);
  const Bytes quad = *external(signature, memory);
  CHECK(quad == big_endian(static_cast<Quad>(value)));
  CHECK(*internal(signature, quad) == memory);
}

TEST_CASE("long doubles: zeros, denormals, normal numbers, infinities, NaNs") {
  constexpr std::uint64_t one = std::uint64_t{1} << 63U;
  constexpr std::uint64_t quiet = std::uint64_t{1} << 62U;
  for (const unsigned sign : {0x0000U, 0x8000U}) {
    const auto head = [=](unsigned exponent) {
      return static_cast<std::uint16_t>(sign | exponent);
    };
    check_long_double(head(0), 0);
    check_long_double(head(0), 1);
    check_long_double(head(0), one - 1);
    check_long_double(head(1), one);
    check_long_double(head(0x3fff), one);
    check_long_double(head(0x3fff), one | 1);
    check_long_double(head(0x7ffe), ~std::uint64_t{0});
    check_long_double(head(0x7fff), one);
    check_long_double(head(0x7fff), one | quiet | 12345);
  }
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const auto head = static_cast<std::uint16_t>(random());
    const unsigned exponent = head & 0x7fffU;
    const std::uint64_t fraction = random() >> (random() % 64) & (one - 1);
    // The conversion of the compiler makes every NaN quiet.
    const std::uint64_t leading = exponent == 0 ? 0 : exponent == 0x7fff ? one | quiet : one;
    check_long_double(head, leading | fraction);
  }
}

TEST_CASE("any binary128 is rounded to the nearest long double, ties to even") {
  MESSAGE("seed " << seed + 1);
  std::mt19937_64 random(seed + 1);
  const TypeSignature signature = TypeSignature::basic(long_real);
  for (int i = 0; i < 200000; ++i) {
    CAPTURE(i);
    // Few exponents, so that all kinds of number occur, and low halves near a tie.
    const std::array<std::uint64_t, 7> exponents{0, 0, 1, 2, 0x3fff, 0x7ffe, random() % 0x7fff};
    std::uint64_t high = (random() & ((std::uint64_t{1} << 48U) - 1)) |
                         (exponents[random() % 7] << 48U) | (random() << 63U);
    std::uint64_t low = random();
    if (random() % 2 == 0) low = (low >> 49U << 49U) | (std::uint64_t{1} << 48U);
    if (random() % 4 == 0) low |= ~std::uint64_t{0} << 48U;
    if (random() % 4 == 0) high |= (std::uint64_t{1} << 48U) - 1;
    Quad quad{};
    std::memcpy(&quad, &low, 8);
    std::memcpy(reinterpret_cast<std::byte*>(&quad) + 8, &high, 8);
    const auto expected = static_cast<long double>(quad);
    const Bytes memory = *internal(signature, big_endian(quad));
    REQUIRE(std::memcmp(memory.data(), &expected, 10) == 0);
  }
}

TEST_CASE("bit patterns that are not valid long doubles") {
  const TypeSignature signature = TypeSignature::basic(long_real);
  // A denormal with its leading bit set has the value of the smallest normal number.
  const Bytes pseudo = memory_of(0, std::uint64_t{1} << 63U);
  CHECK(*external(signature, pseudo) == big_endian(std::numeric_limits<long double>::min()));
  // Without the leading bit, the number is invalid for the processor.
  for (const std::uint16_t head : {std::uint16_t{0x3fff}, std::uint16_t{0x7fff}}) {
    Bytes quad = *external(signature, memory_of(head, 1));
    const Bytes back = *internal(signature, quad);
    long double value = 0;
    std::memcpy(&value, back.data(), 16);
    CHECK(std::isnan(value));
  }
  // A NaN with its payload in the dropped bits must not become an infinity.
  Bytes quad(16);
  quad[0] = std::byte{0x7f};
  quad[1] = std::byte{0xff};
  quad[15] = std::byte{1};
  const Bytes memory = *internal(signature, quad);
  long double value = 0;
  std::memcpy(&value, memory.data(), 16);
  CHECK(std::isnan(value));
}
#endif

TEST_CASE("sizes and counts of signatures") {
  const std::array<TypeSignature, 3> parts{TypeSignature::basic(int4, 2),
                                           TypeSignature::basic(long_int), TypeSignature()};
  const TypeSignature record = TypeSignature::concatenated(parts);
  CHECK(record.native_size() == 16);
  CHECK(record.file_size() == 12);
  CHECK(record.element_count() == 3);
  CHECK(record.repeated(10).native_size() == 160);
  CHECK(record.repeated(10).file_size() == 120);
  CHECK(record.repeated(0).native_size() == 0);
  CHECK(TypeSignature().repeated(5).element_count() == 0);
}

TEST_CASE("a signature without bytes in the file has no whole elements") {
  CHECK(whole_elements(TypeSignature(), 100) == StreamPart{});
  CHECK(whole_elements(TypeSignature::basic(int4), 3) == StreamPart{});
  const TypeSignature nothing = TypeSignature::basic({BasicKind::opaque, 4, 0}, 3);
  CHECK(whole_elements(nothing, 100) == StreamPart{});
}

/// Compares the streams of the tree, truncated at every byte, with its elements one by one.
void check_cuts(const TypeSignature& tree, const std::vector<BasicType>& list,
                const Bytes& native_bytes, const Bytes& file_bytes) {
  StreamPart whole;
  for (std::int64_t cut = 0; cut <= std::ssize(file_bytes); ++cut) {
    const BasicType& next = list[static_cast<std::size_t>(whole.element_count) % list.size()];
    if (whole.file_bytes + std::int64_t{next.file_size} * next.parts <= cut) {
      whole.native_bytes += next.native_size * next.parts;
      whole.file_bytes += std::int64_t{next.file_size} * next.parts;
      ++whole.element_count;
    }
    REQUIRE(whole_elements(tree, cut) == whole);
    if (cut >= tree.file_size()) continue;
    const TypeSignature beginning = tree.beginning(cut);
    CHECK(beginning.element_count() == whole.element_count);
    const Bytes in_file(file_bytes.begin(), file_bytes.begin() + whole.file_bytes);
    CHECK(*internal(beginning, in_file) ==
          Bytes(native_bytes.begin(), native_bytes.begin() + whole.native_bytes));
  }
}

TEST_CASE("random records: nested repeats convert like their elements one by one") {
  MESSAGE("seed " << seed + 2);
  std::mt19937_64 random(seed + 2);
  const std::array<BasicType, 6> basics{int4, long_int, real8, text, wide_flag, complex4};
  for (int i = 0; i < 3000; ++i) {
    CAPTURE(i);
    // The same signature as a tree and as a list.
    TypeSignature tree;
    std::vector<BasicType> list;
    for (int level = 0; level < 4; ++level) {
      const BasicType type = basics[random() % basics.size()];
      const std::array<TypeSignature, 2> parts{
          tree, TypeSignature::basic(type, static_cast<std::int64_t>(random() % 3))};
      list.insert(list.end(), static_cast<std::size_t>(parts[1].element_count()), type);
      const std::size_t times = random() % 3 + 1;
      tree = TypeSignature::concatenated(parts).repeated(static_cast<std::int64_t>(times));
      const std::vector<BasicType> once = list;
      for (std::size_t t = 1; t < times; ++t) list.insert(list.end(), once.begin(), once.end());
    }
    Bytes memory;
    Bytes expected;
    for (int copy = 0; copy < 2; ++copy) {
      for (const BasicType& type : list) {
        const Bytes element = type.kind == BasicKind::boolean
                                  ? native(static_cast<std::int32_t>(random() % 2))
                                  : native(static_cast<std::int64_t>(random() % INT32_MAX));
        const Bytes one(element.begin(), element.begin() + type.native_size * type.parts);
        memory.insert(memory.end(), one.begin(), one.end());
        const Bytes out = *external(TypeSignature::basic(type), one);
        expected.insert(expected.end(), out.begin(), out.end());
      }
    }
    CHECK(tree.element_count() == std::ssize(list));
    CHECK(*external(tree, memory, 2) == expected);
    CHECK(*internal(tree, expected, 2) == memory);
    if (!list.empty() && i % 10 == 0) check_cuts(tree, list, memory, expected);
  }
}

}  // namespace
}  // namespace nacre::plan
