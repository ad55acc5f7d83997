#include "plan/types/type_signature.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {

/// Either `count` elements of `basic`, or `count` times `parts` one after the other.
struct TypeSignature::Node {
  BasicType basic;
  std::int64_t count = 0;
  std::vector<std::shared_ptr<const Node>> parts;
  std::int64_t native_size = 0;
  std::int64_t file_size = 0;
  std::int64_t element_count = 0;
};

namespace {

using Node = TypeSignature::Node;

static_assert(std::endian::native == std::endian::little,
              "external32 is big-endian; a big-endian host needs copies without reversal");

constexpr std::size_t word_max = 16;
using Word = std::array<std::byte, word_max>;  // an element, least significant byte first

/// An element as the native side holds it: little-endian already.
Word load_native(const std::byte* from, std::size_t size) {
  Word word{};
  std::memcpy(word.data(), from, size);
  return word;
}

void store_external(const Word& word, std::byte* to, std::size_t size) {
  std::reverse_copy(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(size), to);
}

Word load_external(const std::byte* from, std::size_t size) {
  Word word{};
  std::reverse_copy(from, from + size, word.begin());
  return word;
}

void store_native(const Word& word, std::byte* to, std::size_t size) {
  std::memcpy(to, word.data(), size);
}

/// Bytes above `size` as widening makes them.
std::byte fill_of(const Word& word, std::size_t size, BasicKind kind) {
  const bool negative =
      kind == BasicKind::signed_integer && (word[size - 1] & std::byte{0x80}) != std::byte{0};
  return negative ? std::byte{0xff} : std::byte{0};
}

/// The word's value in `to` bytes instead of `from`; false when it does not fit.
bool resize(Word& word, std::size_t from, std::size_t to, BasicKind kind) {
  const std::byte fill = fill_of(word, from, kind);
  for (std::size_t i = from; i < to; ++i) word[i] = fill;
  if (to >= from) return true;
  const bool rest_is_fill = std::all_of(word.begin() + static_cast<std::ptrdiff_t>(to),
                                        word.begin() + static_cast<std::ptrdiff_t>(from),
                                        [fill](std::byte b) { return b == fill; });
  if (kind == BasicKind::boolean) {
    if (!rest_is_fill) word[0] |= std::byte{1};  // what is not zero stays true
    return true;
  }
  return rest_is_fill && fill_of(word, to, kind) == fill;
}

/// Sign and exponent (16 bits) and what follows them, of x87 extended and of IEEE binary128. Both
/// have the same exponent; extended writes the leading 1 of the significand out.
struct Extended {
  std::uint16_t head = 0;
  std::uint64_t significand = 0;
};
struct Quad {
  std::uint16_t head = 0;
  std::uint64_t high = 0;  // 48 bits
  std::uint64_t low = 0;
};

constexpr std::uint16_t exponent_mask = 0x7fff;
constexpr std::uint64_t leading_one = std::uint64_t{1} << 63U;

constexpr std::uint64_t quiet_bit = std::uint64_t{1} << 62U;  // of a NaN, in Extended

Quad widen(Extended x) {
  const bool leading = (x.significand & leading_one) != 0;
  if ((x.head & exponent_mask) != 0 && !leading) {
    // No number: the processor takes such patterns for invalid operands, whose result is a NaN.
    x = {static_cast<std::uint16_t>(x.head | exponent_mask), leading_one | quiet_bit};
  }
  const std::uint64_t fraction = x.significand & ~leading_one;
  Quad quad{x.head, fraction >> 15U, fraction << 49U};
  // A denormal whose leading 1 is set after all is the least normal number.
  if ((x.head & exponent_mask) == 0 && leading) ++quad.head;
  return quad;
}

Extended narrow(const Quad& quad) {
  const std::uint16_t exponent = quad.head & exponent_mask;
  const std::uint64_t fraction = (quad.high << 15U) | (quad.low >> 49U);
  const std::uint64_t dropped = quad.low << 15U;
  if (exponent == exponent_mask) {  // infinity, or a NaN that must stay one
    const bool nan = (quad.high | quad.low) != 0;
    const std::uint64_t payload = nan && fraction == 0 ? quiet_bit : fraction;
    return {quad.head, leading_one | payload};
  }
  Extended x{quad.head, fraction | (exponent == 0 ? 0 : leading_one)};
  const bool up = dropped > leading_one || (dropped == leading_one && (fraction & 1U) != 0);
  if (!up) return x;
  ++x.significand;
  if (x.significand == 0) {  // all ones carried over: the next power of two
    x.significand = leading_one;
    ++x.head;
  } else if (exponent == 0 && (x.significand & leading_one) != 0) {
    ++x.head;  // the greatest denormal became normal
  }
  return x;
}

template <class T>
T read_at(const Word& word, std::size_t at) {
  T value{};
  std::memcpy(&value, word.data() + at, sizeof value);
  return value;
}

template <class T>
void write_at(Word& word, std::size_t at, T value) {
  std::memcpy(word.data() + at, &value, sizeof value);
}

constexpr bool long_double_is_x87 = std::numeric_limits<long double>::digits == 64;

Word quad_of_extended(const Word& word) {
  const Quad quad = widen({read_at<std::uint16_t>(word, 8), read_at<std::uint64_t>(word, 0)});
  Word out{};
  write_at(out, 0, quad.low);
  write_at(out, 8, quad.high | (static_cast<std::uint64_t>(quad.head) << 48U));
  return out;
}

Word extended_of_quad(const Word& word) {
  const auto high = read_at<std::uint64_t>(word, 8);
  const Extended x =
      narrow({static_cast<std::uint16_t>(high >> 48U), high & ((std::uint64_t{1} << 48U) - 1),
              read_at<std::uint64_t>(word, 0)});
  Word out{};
  write_at(out, 0, x.significand);
  write_at(out, 8, x.head);
  return out;
}

std::int64_t native_size_of(const BasicType& type) {
  return std::int64_t{type.native_size} * type.parts;
}

std::int64_t file_size_of(const BasicType& type) {
  return std::int64_t{type.file_size} * type.parts;
}

Error does_not_fit(const BasicType& type, std::size_t to) {
  return Error{ErrorClass::conversion, 0,
               "an integer of " + std::to_string(type.native_size) + " bytes in memory and " +
                   std::to_string(type.file_size) +
                   " in external32 has a value that does not fit " + std::to_string(to) + " bytes"};
}

Status element_to_external(const BasicType& type, const std::byte* from, std::byte* to) {
  Word word = load_native(from, type.native_size);
  if (type.kind == BasicKind::long_double && long_double_is_x87) word = quad_of_extended(word);
  if (type.native_size != type.file_size &&
      !resize(word, type.native_size, type.file_size, type.kind)) {
    return does_not_fit(type, type.file_size);
  }
  store_external(word, to, type.file_size);
  return {};
}

Status element_from_external(const BasicType& type, const std::byte* from, std::byte* to) {
  Word word = load_external(from, type.file_size);
  if (type.kind == BasicKind::long_double && long_double_is_x87) word = extended_of_quad(word);
  if (type.native_size != type.file_size &&
      !resize(word, type.file_size, type.native_size, type.kind)) {
    return does_not_fit(type, type.native_size);
  }
  store_native(word, to, type.native_size);
  return {};
}

/// Streams under way: what is left of either.
struct Streams {
  const std::byte* from;
  std::byte* to;
};

using ElementConversion = Status (*)(const BasicType&, const std::byte*, std::byte*);

struct Conversion {
  ElementConversion element;
  bool to_external;
};

/// `count` elements of `size` bytes with their bytes in reverse order; the size is known to the
/// compiler, so that this becomes a swap instruction, or several at once.
template <std::size_t size>
void reverse_elements(std::int64_t count, const Streams& streams) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::array<std::byte, size> element;
    std::memcpy(element.data(), streams.from + i * size, size);
    std::reverse(element.begin(), element.end());
    std::memcpy(streams.to + i * size, element.data(), size);
  }
}

/// Whether elements differ between the two sides by the order of their bytes at most.
bool only_order_differs(const BasicType& type) {
  if (type.native_size != type.file_size) return false;
  return type.kind != BasicKind::long_double || !long_double_is_x87;
}

/// Converts all elements where only their order of bytes differs; false where more does.
bool reorder_elements(const BasicType& type, std::int64_t count, const Streams& streams) {
  if (type.kind == BasicKind::opaque) {
    std::memcpy(streams.to, streams.from, static_cast<std::size_t>(count) * type.native_size);
    return true;
  }
  if (!only_order_differs(type)) return false;
  switch (type.native_size) {
    case 1:
      reverse_elements<1>(count, streams);
      return true;
    case 2:
      reverse_elements<2>(count, streams);
      return true;
    case 4:
      reverse_elements<4>(count, streams);
      return true;
    case 8:
      reverse_elements<8>(count, streams);
      return true;
    case 16:
      reverse_elements<16>(count, streams);
      return true;
    default:
      return false;
  }
}

Status convert_elements(const Node& node, const Conversion& conversion, Streams& streams) {
  const BasicType& type = node.basic;
  const std::size_t from_size = conversion.to_external ? type.native_size : type.file_size;
  const std::size_t to_size = conversion.to_external ? type.file_size : type.native_size;
  const std::int64_t part_count = node.count * type.parts;
  const auto count = static_cast<std::size_t>(part_count);
  if (!reorder_elements(type, part_count, streams)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (Status done =
              conversion.element(type, streams.from + i * from_size, streams.to + i * to_size);
          !done) {
        return done;
      }
    }
  }
  streams.from += count * from_size;
  streams.to += count * to_size;
  return {};
}

Status convert(const Node& node, const Conversion& conversion, Streams& streams) {
  if (node.parts.empty()) return convert_elements(node, conversion, streams);
  for (std::int64_t i = 0; i < node.count; ++i) {
    for (const auto& part : node.parts) {
      if (Status done = convert(*part, conversion, streams); !done) return done;
    }
  }
  return {};
}

Status convert_copies(const TypeSignature& signature, std::int64_t count,
                      const Conversion& conversion, Streams streams) {
  if (signature.node() == nullptr) return {};
  for (std::int64_t i = 0; i < count; ++i) {
    if (Status done = convert(*signature.node(), conversion, streams); !done) return done;
  }
  return {};
}

}  // namespace

TypeSignature TypeSignature::basic(BasicType type, std::int64_t count) {
  TypeSignature signature;
  if (count == 0) return signature;
  auto node = std::make_shared<Node>();
  node->basic = type;
  node->count = count;
  node->native_size = saturating_multiply(count, native_size_of(type));
  node->file_size = saturating_multiply(count, file_size_of(type));
  node->element_count = count;
  signature.node_ = std::move(node);
  return signature;
}

TypeSignature TypeSignature::repeated(std::int64_t count) const {
  if (node_ == nullptr || count == 0) return {};
  if (count == 1) return *this;
  if (node_->parts.empty()) return basic(node_->basic, saturating_multiply(node_->count, count));
  auto node = std::make_shared<Node>(*node_);
  node->count = saturating_multiply(node->count, count);
  node->native_size = saturating_multiply(node->native_size, count);
  node->file_size = saturating_multiply(node->file_size, count);
  node->element_count = saturating_multiply(node->element_count, count);
  TypeSignature signature;
  signature.node_ = std::move(node);
  return signature;
}

TypeSignature TypeSignature::concatenated(std::span<const TypeSignature> parts) {
  auto node = std::make_shared<Node>();
  node->count = 1;
  for (const TypeSignature& part : parts) {
    if (part.node_ == nullptr) continue;
    node->native_size = saturating_add(node->native_size, part.native_size());
    node->file_size = saturating_add(node->file_size, part.file_size());
    node->element_count = saturating_add(node->element_count, part.element_count());
    const bool continues = !node->parts.empty() && node->parts.back()->parts.empty() &&
                           part.node_->parts.empty() &&
                           node->parts.back()->basic == part.node_->basic;
    if (continues) {
      node->parts.back() =
          basic(part.node_->basic, saturating_add(node->parts.back()->count, part.node_->count))
              .node_;
    } else {
      node->parts.push_back(part.node_);
    }
  }
  TypeSignature signature;
  if (node->parts.size() == 1) {
    signature.node_ = node->parts.front();
  } else if (!node->parts.empty()) {
    signature.node_ = std::move(node);
  }
  return signature;
}

std::int64_t TypeSignature::native_size() const { return node_ ? node_->native_size : 0; }
std::int64_t TypeSignature::file_size() const { return node_ ? node_->file_size : 0; }
std::int64_t TypeSignature::element_count() const { return node_ ? node_->element_count : 0; }

TypeSignature TypeSignature::beginning(std::int64_t file_bytes) const {
  if (node_ == nullptr || file_bytes <= 0) return {};
  if (node_->parts.empty()) {
    return basic(node_->basic, std::min(node_->count, file_bytes / file_size_of(node_->basic)));
  }
  std::vector<TypeSignature> round;
  for (const auto& part : node_->parts) round.emplace_back().node_ = part;
  const std::int64_t round_bytes = node_->file_size / node_->count;
  std::vector<TypeSignature> found{concatenated(round).repeated(file_bytes / round_bytes)};
  std::int64_t left = file_bytes % round_bytes;
  for (const TypeSignature& part : round) {
    if (part.file_size() > left) {
      found.push_back(part.beginning(left));
      break;
    }
    found.push_back(part);
    left -= part.file_size();
  }
  return concatenated(found);
}

StreamPart whole_elements(const TypeSignature& signature, std::int64_t file_bytes) {
  if (signature.file_size() == 0) return {};
  const std::int64_t copies = file_bytes / signature.file_size();
  const TypeSignature rest = signature.beginning(file_bytes % signature.file_size());
  return {copies * signature.native_size() + rest.native_size(),
          copies * signature.file_size() + rest.file_size(),
          copies * signature.element_count() + rest.element_count()};
}

Status to_external32(const TypeSignature& signature, std::int64_t count,
                     std::span<const std::byte> native, std::span<std::byte> external) {
  return convert_copies(signature, count, {element_to_external, true},
                        {native.data(), external.data()});
}

Status from_external32(const TypeSignature& signature, std::int64_t count,
                       std::span<const std::byte> external, std::span<std::byte> native) {
  return convert_copies(signature, count, {element_from_external, false},
                        {external.data(), native.data()});
}

}  // namespace nacre::plan
