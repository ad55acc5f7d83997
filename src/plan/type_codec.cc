// TypeMap::encode and decode: a view on its way to an aggregator.
//
//   map     := zigzag(lb) zigzag(ub) node
//   node    := kind zigzag(shift) body
//   bytes   := size
//   repeat  := count zigzag(stride) node
//   indexed := block count, uniform?, zigzag(stride), displacements as zigzag differences, copies
//   of each
//              block unless uniform, node
//   struct  := member count, nodes
// Numbers are varints, seven bits a byte, least significant first. Decoding goes through the
// builders, so what it yields is as sound as what a program can build.
#include <optional>
#include <utility>

#include "base/checked_cast.h"
#include "plan/type_map.h"
#include "plan/type_node.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

constexpr int depth_max = 64;

class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& out) : out_(out) {}

  void put(std::uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<std::byte>(value | 0x80U));
      value >>= 7U;
    }
    out_.push_back(static_cast<std::byte>(value));
  }
  void put_signed(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    put((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void put_count(std::int64_t value) { put(static_cast<std::uint64_t>(value)); }

  void put_node(const TypeNode& node) {
    put(static_cast<std::uint64_t>(node.kind));
    put_signed(node.shift);
    switch (node.kind) {
      case Kind::bytes:
        put_count(node.size);
        return;
      case Kind::repeat:
        put_count(node.count);
        put_signed(node.stride);
        return put_node(*node.child);
      case Kind::indexed:
        put_blocks(*node.blocks, node.stride);
        return put_node(*node.child);
      case Kind::structure:
        put_count(std::ssize(node.members->nodes));
        for (const NodePointer& member : node.members->nodes) put_node(*member);
        return;
    }
  }

 private:
  void put_blocks(const BlockList& blocks, std::int64_t stride) {
    put_count(blocks.block_count());
    put(blocks.first_copy.empty() ? 1 : 0);
    put_signed(stride);
    std::int64_t before = 0;
    for (const std::int64_t displacement : blocks.displacements) {
      // Wraps where the difference exceeds 64 bits, and back again when decoded.
      put_signed(static_cast<std::int64_t>(static_cast<std::uint64_t>(displacement) -
                                           static_cast<std::uint64_t>(before)));
      before = displacement;
    }
    if (blocks.first_copy.empty()) return;
    for (std::int64_t i = 0; i < blocks.block_count(); ++i) put_count(blocks.copies_in(i));
  }

  std::vector<std::byte>& out_;
};

Error malformed() {
  return Error{ErrorClass::type, 0, "an encoded datatype is malformed or exceeds its limits"};
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte>& in) : in_(in) {}

  std::optional<std::uint64_t> get() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (in_.empty()) return std::nullopt;
      const auto byte = static_cast<std::uint64_t>(in_.front());
      in_ = in_.subspan(1);
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> get_signed() {
    const auto bits = get();
    if (!bits) return std::nullopt;
    return static_cast<std::int64_t>((*bits >> 1U) ^ (~(*bits & 1U) + 1));
  }
  std::optional<std::int64_t> get_count() {
    const auto value = get();
    if (!value || !std::in_range<std::int64_t>(*value)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }
  /// The number of things that follow, at least a byte each.
  std::optional<std::size_t> get_length() {
    const auto length = get();
    if (!length || *length > in_.size()) return std::nullopt;
    return static_cast<std::size_t>(*length);
  }

  Result<TypeMap> get_node(int depth) {
    const auto kind = get();
    const auto shift = get_signed();
    if (depth > depth_max || !kind || !shift || *kind > 3) return malformed();
    Result<TypeMap> map = get_body(static_cast<Kind>(*kind), depth);
    if (!map || *shift == 0) return map;
    const std::int64_t one = 1;
    return TypeMap::indexed(*map, std::span(&one, 1), std::span(&*shift, 1));
  }

 private:
  Result<TypeMap> get_body(Kind kind, int depth) {
    switch (kind) {
      case Kind::bytes: {
        const auto size = get_count();
        if (!size) return malformed();
        return TypeMap::bytes(*size);
      }
      case Kind::repeat: {
        const auto count = get_count();
        const auto stride = get_signed();
        if (!count || !stride) return malformed();
        const Result<TypeMap> child = get_node(depth + 1);
        if (!child) return child;
        return TypeMap::repeat(*child, *count, *stride);
      }
      case Kind::indexed:
        return get_indexed(depth);
      case Kind::structure:
        return get_structure(depth);
    }
    return malformed();
  }

  Result<TypeMap> get_indexed(int depth) {
    const auto length = get_length();
    const auto uniform = get();
    const auto stride = get_signed();
    if (!length || !uniform || !stride) return malformed();
    std::vector<std::int64_t> displacements(*length);
    std::uint64_t before = 0;
    for (std::int64_t& displacement : displacements) {
      const auto difference = get_signed();
      if (!difference) return malformed();
      before += static_cast<std::uint64_t>(*difference);
      displacement = static_cast<std::int64_t>(before);
    }
    std::vector<std::int64_t> copies(*length, 1);
    if (*uniform == 0) {
      for (std::int64_t& count : copies) {
        const auto value = get_count();
        if (!value) return malformed();
        count = *value;
      }
    }
    const Result<TypeMap> child = get_node(depth + 1);
    if (!child) return child;
    // Copies inside a block lie one extent apart.
    const Result<TypeMap> spaced = child->resized(child->lb(), *stride);
    if (!spaced) return spaced;
    return TypeMap::indexed(*spaced, copies, displacements);
  }

  Result<TypeMap> get_structure(int depth) {
    const auto length = get_length();
    if (!length) return malformed();
    std::vector<TypeMap::Field> fields;
    for (std::size_t i = 0; i < *length; ++i) {
      const Result<TypeMap> member = get_node(depth + 1);
      if (!member) return member;
      fields.push_back({0, 1, member->node()});
    }
    return TypeMap::structure(fields);
  }

  std::span<const std::byte>& in_;
};

}  // namespace

void TypeMap::encode(std::vector<std::byte>& out) const {
  Encoder encoder(out);
  encoder.put_signed(node_->lb);
  encoder.put_signed(node_->ub);
  encoder.put_node(*node_);
}

Result<TypeMap> TypeMap::decode(std::span<const std::byte>& in) {
  Decoder decoder(in);
  const auto lb = decoder.get_signed();
  const auto ub = decoder.get_signed();
  if (!lb || !ub) return malformed();
  const auto extent = checked_add(*ub, *lb == INT64_MIN ? INT64_MAX : -*lb);
  const Result<TypeMap> map = decoder.get_node(0);
  if (!map) return map;
  if (!extent) return malformed();
  return map->resized(*lb, *extent);
}

}  // namespace nacre::plan
