#include "plan/types/type_signature.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.h"

namespace nacre::plan {

/// Either `count` elements of `basic`, or `count` times `parts` one after the other.
struct TypeSignature::Node {
  BasicType basic;
  std::int64_t count = 0;
  std::vector<std::shared_ptr<const Node>> parts;
  StreamPart total;
};

namespace {

using Node = TypeSignature::Node;

static_assert(std::endian::native == std::endian::little,
              "external32 is big-endian; a big-endian host needs copies without reversal");

/// An element as a number: its least significant byte lowest.
__extension__ using Word = unsigned __int128;

/// The low `size` bytes of `word`, widened by their sign or by zero.
Word widened(Word word, std::size_t size, BasicKind kind) {
  __extension__ using SignedWord = __int128;
  const std::size_t unused_bits = 8 * (sizeof(Word) - size);
  word <<= unused_bits;
  if (kind != BasicKind::signed_integer) return word >> unused_bits;
  return static_cast<Word>(static_cast<SignedWord>(word) >> unused_bits);
}

/// The word's value in `to` bytes instead of `from`; nothing if it does not fit.
std::optional<Word> resized(Word word, std::size_t from, std::size_t to, BasicKind kind) {
  word = widened(word, from, kind);
  if (to >= from || widened(word, to, kind) == word) return word;
  if (kind == BasicKind::boolean) return word | 1U;  // a value other than zero stays true
  return std::nullopt;
}

// x87 extended: a significand of 64 bits whose leading 1 is written out, then the head: 15 bits of
// exponent and the sign. IEEE binary128 has 112 bits without the leading 1, then the same head.
constexpr bool long_double_is_x87 = std::numeric_limits<long double>::digits == 64;
constexpr std::uint16_t exponent_mask = 0x7fff;
constexpr std::uint64_t leading_one = std::uint64_t{1} << 63U;
constexpr std::uint64_t quiet_bit = std::uint64_t{1} << 62U;  // of a NaN, in x87 extended
constexpr unsigned quad_fraction_bits = 112;
constexpr unsigned dropped_bits = quad_fraction_bits - 63;

Word quad_of_extended(Word extended) {
  auto significand = static_cast<std::uint64_t>(extended);
  auto head = static_cast<std::uint16_t>(extended >> 64U);
  if ((head & exponent_mask) != 0 && (significand & leading_one) == 0) {
    // No number: the processor takes such patterns for invalid operands, whose result is a NaN.
    significand = leading_one | quiet_bit;
    head |= exponent_mask;
  } else if ((head & exponent_mask) == 0 && (significand & leading_one) != 0) {
    ++head;  // a denormal whose leading 1 is set after all is the least normal number
  }
  return Word{head} << quad_fraction_bits | Word{significand & ~leading_one} << dropped_bits;
}

/// Rounds to nearest, ties to even.
Word extended_of_quad(Word quad) {
  auto head = static_cast<std::uint16_t>(quad >> quad_fraction_bits);
  const std::uint16_t exponent = head & exponent_mask;
  const auto fraction = static_cast<std::uint64_t>(quad >> dropped_bits) & ~leading_one;
  const auto dropped = static_cast<std::uint64_t>(quad) << (64 - dropped_bits);
  std::uint64_t significand = fraction | (exponent == 0 ? 0 : leading_one);
  if (exponent == exponent_mask) {
    // A NaN stays one, even if all bits of its payload are dropped.
    if (fraction == 0 && dropped != 0) significand |= quiet_bit;
  } else if (dropped > leading_one || (dropped == leading_one && (fraction & 1U) != 0)) {
    ++significand;
    if (significand == 0) {  // all ones carried over: the next power of two
      significand = leading_one;
      ++head;
    } else if (exponent == 0 && (significand & leading_one) != 0) {
      ++head;  // the greatest denormal became normal
    }
  }
  return Word{head} << 64U | significand;
}

/// `count` copies of `part`.
StreamPart times(const StreamPart& part, std::int64_t count) {
  return {saturating_multiply(part.native_bytes, count),
          saturating_multiply(part.file_bytes, count),
          saturating_multiply(part.element_count, count)};
}

StreamPart sum(const StreamPart& a, const StreamPart& b) {
  return {saturating_add(a.native_bytes, b.native_bytes),
          saturating_add(a.file_bytes, b.file_bytes),
          saturating_add(a.element_count, b.element_count)};
}

StreamPart one_element(const BasicType& type) {
  return {std::int64_t{type.native_size} * type.parts, std::int64_t{type.file_size} * type.parts,
          1};
}

/// The direction of a conversion, and what is left of its two streams.
struct Conversion {
  bool to_external;
  const std::byte* from;
  std::byte* to;
};

Error does_not_fit(const BasicType& type, bool to_external) {
  const std::string in_memory = std::to_string(type.native_size) + " bytes in memory";
  const std::string in_file = std::to_string(type.file_size) + " bytes in the file";
  return Error{ErrorClass::conversion, 0,
               "external32: the value of an integer of " + (to_external ? in_memory : in_file) +
                   " does not fit " + (to_external ? in_file : in_memory) +
                   "; use smaller values, or the data representation native"};
}

Status convert_element(const BasicType& type, const Conversion& streams) {
  std::size_t from_size = type.native_size;
  std::size_t to_size = type.file_size;
  if (!streams.to_external) std::swap(from_size, to_size);
  std::array<std::byte, sizeof(Word)> bytes{};
  std::memcpy(bytes.data(), streams.from, from_size);
  if (!streams.to_external) std::reverse(bytes.begin(), bytes.begin() + from_size);
  auto word = std::bit_cast<Word>(bytes);
  if (type.kind == BasicKind::long_double && long_double_is_x87) {
    word = streams.to_external ? quad_of_extended(word) : extended_of_quad(word);
  }
  if (from_size != to_size) {
    const std::optional<Word> fitting = resized(word, from_size, to_size, type.kind);
    if (!fitting) return does_not_fit(type, streams.to_external);
    word = *fitting;
  }
  bytes = std::bit_cast<decltype(bytes)>(word);
  if (streams.to_external) std::reverse(bytes.begin(), bytes.begin() + to_size);
  std::memcpy(streams.to, bytes.data(), to_size);
  return {};
}

/// `count` elements of `size` bytes with their bytes in reverse order; the size is known to the
/// compiler, so that this becomes a swap instruction, or several at once.
template <std::size_t size>
void reverse_elements(std::int64_t count, const Conversion& streams) {
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
bool reorder_elements(const BasicType& type, std::int64_t count, const Conversion& streams) {
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

Status convert_elements(const Node& node, Conversion& streams) {
  const BasicType& type = node.basic;
  const std::size_t from_size = streams.to_external ? type.native_size : type.file_size;
  const std::size_t to_size = streams.to_external ? type.file_size : type.native_size;
  const std::int64_t count = node.count * type.parts;
  const auto reordered = reorder_elements(type, count, streams) ? count : 0;
  streams.from += static_cast<std::size_t>(reordered) * from_size;
  streams.to += static_cast<std::size_t>(reordered) * to_size;
  for (std::int64_t i = reordered; i < count; ++i) {
    if (Status done = convert_element(type, streams); !done) return done;
    streams.from += from_size;
    streams.to += to_size;
  }
  return {};
}

Status convert(const Node& node, Conversion& streams) {
  if (node.parts.empty()) return convert_elements(node, streams);
  for (std::int64_t i = 0; i < node.count; ++i) {
    for (const auto& part : node.parts) {
      if (Status done = convert(*part, streams); !done) return done;
    }
  }
  return {};
}

Status convert_copies(const TypeSignature& signature, std::int64_t count, Conversion streams) {
  if (signature.node() == nullptr) return {};
  for (std::int64_t i = 0; i < count; ++i) {
    if (Status done = convert(*signature.node(), streams); !done) return done;
  }
  return {};
}

}  // namespace

TypeSignature TypeSignature::basic(BasicType type, std::int64_t count) {
  if (count == 0) return {};
  return TypeSignature(std::make_shared<const Node>(
      Node{.basic = type, .count = count, .parts = {}, .total = times(one_element(type), count)}));
}

TypeSignature TypeSignature::repeated(std::int64_t count) const {
  if (node_ == nullptr || count == 0) return {};
  if (count == 1) return *this;
  if (node_->parts.empty()) return basic(node_->basic, saturating_multiply(node_->count, count));
  auto node = std::make_shared<Node>(*node_);
  node->count = saturating_multiply(node->count, count);
  node->total = times(node->total, count);
  return TypeSignature(std::move(node));
}

TypeSignature TypeSignature::concatenated(std::span<const TypeSignature> parts) {
  auto node = std::make_shared<Node>();
  node->count = 1;
  for (const TypeSignature& part : parts) {
    if (part.node_ == nullptr) continue;
    node->total = sum(node->total, part.node_->total);
    const Node* const last = node->parts.empty() ? nullptr : node->parts.back().get();
    const bool continues = last != nullptr && last->parts.empty() && part.node_->parts.empty() &&
                           last->basic == part.node_->basic;
    if (continues) {
      node->parts.back() = basic(last->basic, saturating_add(last->count, part.node_->count)).node_;
    } else {
      node->parts.push_back(part.node_);
    }
  }
  if (node->parts.empty()) return {};
  return TypeSignature(node->parts.size() == 1 ? node->parts.front() : std::move(node));
}

StreamPart TypeSignature::total() const { return node_ ? node_->total : StreamPart(); }

TypeSignature TypeSignature::beginning(std::int64_t file_bytes) const {
  if (node_ == nullptr || file_bytes <= 0) return {};
  if (node_->parts.empty()) {
    return basic(node_->basic,
                 std::min(node_->count, file_bytes / one_element(node_->basic).file_bytes));
  }
  std::vector<TypeSignature> round;
  for (const auto& part : node_->parts) round.push_back(TypeSignature(part));
  const std::int64_t round_bytes = node_->total.file_bytes / node_->count;
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
  return sum(times(signature.total(), copies), rest.total());
}

Status to_external32(const TypeSignature& signature, std::int64_t count,
                     std::span<const std::byte> native, std::span<std::byte> external) {
  return convert_copies(signature, count, {true, native.data(), external.data()});
}

Status from_external32(const TypeSignature& signature, std::int64_t count,
                       std::span<const std::byte> external, std::span<std::byte> native) {
  return convert_copies(signature, count, {false, external.data(), native.data()});
}

}  // namespace nacre::plan
