// TypeMap::encode and decode: the form in which a view is sent to an aggregator.
//
//   map     := zigzag(lb) zigzag(ub) node
//   node    := kind zigzag(shift) body
//   bytes   := size
//   repeat  := count zigzag(stride) node
//   indexed := block count, uniform?, zigzag(stride), displacements as zigzag differences,
//              copies of each block unless uniform, node
//   struct  := member count, nodes
// Numbers are varints: seven bits per byte, least significant first. The decoder uses the builders,
// so a decoded map is as valid as a map that a program builds.
#include <algorithm>
#include <utility>

#include "plan/types/type_map.h"
#include "plan/types/type_node.h"

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

  void put_head(Kind kind, std::int64_t shift) {
    put(static_cast<std::uint64_t>(kind));
    put_signed(shift);
  }
  void put_bytes(std::int64_t size) {
    put_head(Kind::bytes, 0);
    put_count(size);
  }

  void put_node(const TypeNode& node) {
    put_head(node.kind, node.shift);
    switch (node.kind) {
      case Kind::bytes:
        put_count(node.size);
        return;
      case Kind::repeat:
        put_count(node.count);
        put_signed(node.stride);
        return put_node(*node.child);
      case Kind::indexed:
        put_blocks(
            {node.blocks->block_count(), node.blocks->first_copy.empty(), node.stride},
            [&](std::int64_t i) { return node.blocks->displacements[i]; },
            [&](std::int64_t i) { return node.blocks->copies_in(i); });
        return put_node(*node.child);
      case Kind::structure:
        put_count(std::ssize(node.members->nodes));
        for (const NodePointer& member : node.members->nodes) put_node(*member);
        return;
    }
  }

  /// Equal runs at a constant step are encoded as a repeat, other runs as blocks.
  void put_runs(std::span<const Extent> runs) {
    const std::int64_t length = runs.front().length;
    if (runs.size() == 1) return put_bytes(length);
    const auto count = std::ssize(runs);
    const bool alike =
        std::ranges::all_of(runs, [&](const Extent& run) { return run.length == length; });
    const std::int64_t step = runs[1].offset;
    const auto out_of_step = [&](const Extent& one, const Extent& next) {
      return next.offset - one.offset != step;
    };
    if (alike && std::ranges::adjacent_find(runs, out_of_step) == runs.end()) {
      put_head(Kind::repeat, 0);
      put_count(count);
      put_signed(step);
    } else {
      const auto at = [&](std::int64_t i) { return runs[static_cast<std::size_t>(i)]; };
      put_head(Kind::indexed, 0);
      put_blocks(
          {count, alike, 1}, [&](std::int64_t i) { return at(i).offset; },
          [&](std::int64_t i) { return at(i).length; });
    }
    put_bytes(alike ? length : 1);
  }

 private:
  struct BlockShape {
    std::int64_t count;
    bool single;          ///< each of one copy
    std::int64_t stride;  ///< of copies
  };
  template <class Displacement, class Copies>
  void put_blocks(const BlockShape& shape, const Displacement& displacement, const Copies& copies) {
    put_count(shape.count);
    put(shape.single ? 1 : 0);
    if (!shape.single) put_signed(shape.stride);
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < shape.count; ++i) {
      const std::int64_t here = displacement(i);
      // Wraps where the difference exceeds 64 bits, and back again when decoded.
      put_signed(static_cast<std::int64_t>(static_cast<std::uint64_t>(here) -
                                           static_cast<std::uint64_t>(before)));
      before = here;
    }
    if (shape.single) return;
    for (std::int64_t i = 0; i < shape.count; ++i) put_count(copies(i));
  }

  std::vector<std::byte>& out_;
};

Error malformed() {
  return Error{ErrorClass::type, 0,
               "datatype: a received encoding is malformed, nested too deeply or too large"};
}

/// After the first malformed number every further number is 0, and no node can be decoded.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte>& in) : in_(in) {}

  [[nodiscard]] bool failed() const { return failed_; }

  std::uint64_t get() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !in_.empty() && !failed_; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(in_.front());
      in_ = in_.subspan(1);
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  /// A number below `end`.
  std::uint64_t get_below(std::uint64_t end) {
    const std::uint64_t value = get();
    failed_ = failed_ || value >= end;
    return failed_ ? 0 : value;
  }
  std::int64_t get_signed() {
    const std::uint64_t bits = get();
    return static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1));
  }
  std::int64_t get_count() { return static_cast<std::int64_t>(get_below(std::uint64_t{1} << 63U)); }
  /// The number of items that follow, of at least one byte each.
  std::size_t get_length() {
    const std::uint64_t length = get();
    failed_ = failed_ || length > in_.size();
    return failed_ ? 0 : length;
  }

  Result<NodePointer> get_node(int depth) {
    const auto kind = static_cast<Kind>(get_below(kind_count));
    const std::int64_t shift = get_signed();
    if (depth > depth_max || failed_) return malformed();
    const Result<NodePointer> body = get_body(kind, depth);
    if (failed_) return malformed();
    return body ? moved(*body, shift) : body;
  }

 private:
  static constexpr std::uint64_t kind_count = static_cast<std::uint64_t>(Kind::structure) + 1;

  Result<NodePointer> get_body(Kind kind, int depth) {
    switch (kind) {
      case Kind::bytes:
        return make_bytes(get_count());
      case Kind::repeat: {
        const std::int64_t count = get_count();
        const std::int64_t stride = get_signed();
        const Result<NodePointer> child = get_node(depth + 1);
        return child ? make_copies(*child, count, stride) : child;
      }
      case Kind::indexed:
        return get_indexed(depth);
      case Kind::structure:
        return get_structure(depth);
    }
    return malformed();
  }

  Result<NodePointer> get_indexed(int depth) {
    const std::size_t length = get_length();
    const bool single = get_below(2) == 1;
    const std::int64_t stride = single ? 0 : get_signed();
    std::vector<Block> blocks(length);
    std::uint64_t displacement = 0;
    for (Block& block : blocks) {
      displacement += static_cast<std::uint64_t>(get_signed());
      block = {static_cast<std::int64_t>(displacement), 1};
    }
    if (!single) {
      for (Block& block : blocks) block.copies = get_count();
      std::erase_if(blocks, [](const Block& block) { return block.copies == 0; });
    }
    const Result<NodePointer> child = get_node(depth + 1);
    if (!child) return child.error();
    return single && !(*child)->is_run() ? make_single_blocks(*child, std::move(blocks))
                                         : make_blocks(*child, std::move(blocks), stride);
  }

  Result<NodePointer> get_structure(int depth) {
    std::vector<NodePointer> members;
    for (std::size_t left = get_length(); left > 0; --left) {
      const Result<NodePointer> member = get_node(depth + 1);
      if (!member) return member.error();
      members.push_back(*member);
    }
    return make_members(members);
  }

  std::span<const std::byte>& in_;
  bool failed_ = false;
};

bool is_within_depth(const TypeNode& node, int depth) {
  if (depth > depth_max) return false;
  if (node.child && !is_within_depth(*node.child, depth + 1)) return false;
  return !node.members || std::ranges::all_of(node.members->nodes, [=](const NodePointer& member) {
    return is_within_depth(*member, depth + 1);
  });
}

}  // namespace

bool TypeMap::is_encodable() const { return is_within_depth(*node_, 0); }

void TypeMap::encode(std::vector<std::byte>& out) const {
  Encoder encoder(out);
  encoder.put_signed(node_->lb);
  encoder.put_signed(node_->ub);
  encoder.put_node(*node_);
}

void TypeMap::encode_runs(std::span<const Extent> runs, std::vector<std::byte>& out) {
  Encoder encoder(out);
  encoder.put_signed(0);
  encoder.put_signed(runs.back().end());
  encoder.put_runs(runs);
}

Result<TypeMap> TypeMap::decode(std::span<const std::byte>& in) {
  Decoder decoder(in);
  const std::int64_t lb = decoder.get_signed();
  const std::int64_t ub = decoder.get_signed();
  std::int64_t extent = 0;
  if (decoder.failed() || __builtin_sub_overflow(ub, lb, &extent)) return malformed();
  const Result<NodePointer> node = decoder.get_node(0);
  if (!node) return node.error();
  return TypeMap(with_bounds(*node, lb, ub));
}

}  // namespace nacre::plan
