#include "plan/types/type_map.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include "base/checked_cast.h"
#include "plan/types/type_node.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

Range bounds_of(const TypeNode& node) { return {node.lb, node.ub}; }

/// Adds the bounds of the blocks that are not empty (MPI-4.1, 5.1.7).
Status add_bounds(const TypeNode& child, std::span<const std::int64_t> lengths,
                  std::span<const std::int64_t> displacements, Range& bounds) {
  const std::int64_t stride = child.ub - child.lb;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) {
      return Error{
          ErrorClass::type, 0,
          "datatype: block length " + std::to_string(lengths[i]) + " is invalid; use 0 or more"};
    }
    if (lengths[i] > 0) bounds.add_copies(displacements[i], lengths[i], stride, bounds_of(child));
  }
  return {};
}

bool same_layout(const TypeNode& a, const TypeNode& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.size != b.size || a.shift != b.shift || a.count != b.count ||
      a.stride != b.stride) {
    return false;
  }
  switch (a.kind) {
    case Kind::bytes:
      return true;
    case Kind::repeat:
      return same_layout(*a.child, *b.child);
    case Kind::indexed:
      return a.blocks->displacements == b.blocks->displacements &&
             a.blocks->first_copy == b.blocks->first_copy && same_layout(*a.child, *b.child);
    case Kind::structure:
      return std::ranges::equal(
          a.members->nodes, b.members->nodes,
          [](const NodePointer& x, const NodePointer& y) { return same_layout(*x, *y); });
  }
  return false;
}

std::int64_t footprint(const TypeNode& node) {
  std::int64_t bytes = sizeof(TypeNode);
  if (node.child) bytes += footprint(*node.child);
  if (node.blocks) {
    bytes += static_cast<std::int64_t>(sizeof(BlockList)) +
             node.blocks->displacements.heap_bytes() + node.blocks->first_copy.heap_bytes();
  }
  if (node.members) {
    constexpr auto slot = static_cast<std::int64_t>(sizeof(NodePointer) + sizeof(std::int64_t));
    bytes += static_cast<std::int64_t>(sizeof(MemberList)) + slot * std::ssize(node.members->nodes);
    for (const NodePointer& m : node.members->nodes) bytes += footprint(*m);
  }
  return bytes;
}

/// Data bytes of a node below `offset`, which is relative to the first byte of the node. The node
/// and its inner nodes are monotone, so the first byte is the lowest.
std::int64_t bytes_below(const TypeNode& node, std::int64_t offset);

/// All copies before the last copy that begins below `offset`, and part of that copy.
std::int64_t bytes_below_in_copies(const TypeNode& child, std::int64_t count, std::int64_t stride,
                                   std::int64_t offset) {
  const std::int64_t copy = count == 1 ? 0 : std::min(offset / stride, count - 1);
  return copy * child.size + bytes_below(child, offset - copy * stride);
}

std::int64_t bytes_below_in_blocks(const TypeNode& node, std::int64_t offset) {
  const BlockList& blocks = *node.blocks;
  const std::int64_t block = blocks.displacements.lower_bound(offset) - 1;
  return blocks.copies_before(block) * node.child->size +
         bytes_below_in_copies(*node.child, blocks.copies_in(block), node.stride,
                               offset - blocks.displacements[block]);
}

std::int64_t bytes_below_in_members(const MemberList& members, std::int64_t offset) {
  const auto after = std::ranges::lower_bound(members.nodes, offset, {}, &TypeNode::shift);
  const auto last = static_cast<std::size_t>(after - members.nodes.begin()) - 1;
  const TypeNode& member = *members.nodes[last];
  return members.first_byte[last] + bytes_below(member, offset - member.shift);
}

std::int64_t bytes_below(const TypeNode& node, std::int64_t offset) {
  if (offset <= 0) return 0;
  switch (node.kind) {
    case Kind::bytes:
      return std::min(offset, node.size);
    case Kind::repeat:
      return bytes_below_in_copies(*node.child, node.count, node.stride, offset);
    case Kind::indexed:
      return bytes_below_in_blocks(node, offset);
    case Kind::structure:
      return bytes_below_in_members(*node.members, offset);
  }
  return 0;
}

/// Where the runs of a part of a tree begin, from its first data byte on.
struct RunBegins {
  bool ascend = true;     ///< none begins at a lower offset than the run before it
  std::int64_t last = 0;  ///< where the last run begins
};

RunBegins run_begins(const TypeNode& node);

RunBegins run_begins_of_copies(const TypeNode& child, const RunBegins& one, std::int64_t count,
                               std::int64_t stride) {
  if (child.is_run() && stride == child.size) return {};
  return {one.ascend && (count <= 1 || stride >= one.last), (count - 1) * stride + one.last};
}

RunBegins run_begins_of_blocks(const TypeNode& node) {
  const BlockList& blocks = *node.blocks;
  const RunBegins child = run_begins(*node.child);
  RunBegins all;
  for (std::int64_t i = 0; i < blocks.block_count() && all.ascend; ++i) {
    const std::int64_t begin = blocks.displacements[i];
    const RunBegins block =
        run_begins_of_copies(*node.child, child, blocks.copies_in(i), node.stride);
    all = {block.ascend && begin >= all.last, begin + block.last};
  }
  return all;
}

RunBegins run_begins_of_members(const MemberList& members) {
  RunBegins all;
  for (const NodePointer& member : members.nodes) {
    const RunBegins one = run_begins(*member);
    all = {all.ascend && one.ascend && member->shift >= all.last, member->shift + one.last};
  }
  return all;
}

RunBegins run_begins(const TypeNode& node) {
  switch (node.kind) {
    case Kind::bytes:
      return {};
    case Kind::repeat:
      return run_begins_of_copies(*node.child, run_begins(*node.child), node.count, node.stride);
    case Kind::indexed:
      return run_begins_of_blocks(node);
    case Kind::structure:
      return run_begins_of_members(*node.members);
  }
  return {};
}

/// One node for all empty maps. Never destroyed: files are closed in exit handlers too.
const NodePointer& no_bytes() {
  static const auto* node = new NodePointer(make_bytes(0));
  return *node;
}

}  // namespace

TypeMap::TypeMap() : node_(no_bytes()) {}
TypeMap::TypeMap(NodePointer node) : node_(std::move(node)) {}

Result<TypeMap> TypeMap::bounded(const Result<NodePointer>& data, const Range& bounds) {
  if (!data) return data.error();
  if (bounds.overflowed()) return overflow_error();
  return TypeMap(with_bounds(*data, bounds.begin(), bounds.end()));
}

TypeMap TypeMap::bytes(std::int64_t size) {
  assert(size >= 0);
  return TypeMap(make_bytes(size));
}

Result<TypeMap> TypeMap::repeat(const TypeMap& child, std::int64_t count,
                                std::int64_t stride_bytes) {
  if (count < 0) {
    return Error{ErrorClass::type, 0,
                 "datatype: count " + std::to_string(count) + " is invalid; use 0 or more"};
  }
  if (count == 0) return TypeMap();
  Range bounds;
  bounds.add_copies(0, count, stride_bytes, bounds_of(*child.node_));
  return bounded(make_copies(child.node_, count, stride_bytes), bounds);
}

Result<TypeMap> TypeMap::indexed(const TypeMap& child, std::span<const std::int64_t> block_lengths,
                                 std::span<const std::int64_t> displacements_bytes) {
  assert(block_lengths.size() == displacements_bytes.size());
  Range bounds;
  if (Status valid = add_bounds(*child.node_, block_lengths, displacements_bytes, bounds); !valid) {
    return std::move(valid).error();
  }
  std::vector<Block> blocks;
  blocks.reserve(block_lengths.size());
  for (std::size_t i = 0; i < block_lengths.size(); ++i) {
    if (block_lengths[i] > 0) blocks.push_back({displacements_bytes[i], block_lengths[i]});
  }
  return bounded(make_blocks(child.node_, std::move(blocks), child.extent()), bounds);
}

Result<TypeMap> TypeMap::structure(std::span<const Field> fields) {
  Range bounds;
  std::vector<NodePointer> parts;
  for (const Field& field : fields) {
    if (Status valid = add_bounds(*field.type, std::span(&field.block_length, 1),
                                  std::span(&field.displacement_bytes, 1), bounds);
        !valid) {
      return std::move(valid).error();
    }
    const Result<NodePointer> copies =
        make_copies(field.type, field.block_length, field.type->ub - field.type->lb);
    if (!copies) return copies.error();
    const Result<NodePointer> part = moved(*copies, field.displacement_bytes);
    if (!part) return part.error();
    parts.push_back(*part);
  }
  return bounded(make_members(parts), bounds);
}

Result<TypeMap> TypeMap::resized(std::int64_t lb, std::int64_t extent) const {
  const auto ub = checked_add(lb, extent);
  if (!ub) return overflow_error();
  return TypeMap(with_bounds(node_, lb, *ub));
}

std::int64_t TypeMap::size() const { return node_->size; }
std::int64_t TypeMap::lb() const { return node_->lb; }
std::int64_t TypeMap::extent() const { return node_->ub - node_->lb; }
std::int64_t TypeMap::true_lb() const { return node_->true_lb; }
std::int64_t TypeMap::true_extent() const { return node_->data_span(); }
std::int64_t TypeMap::run_count() const { return node_->run_count; }
std::int64_t TypeMap::wide_gap_count() const { return node_->wide_gap_count; }
std::int64_t TypeMap::near_gap_bytes() const { return node_->near_gap_bytes; }
bool TypeMap::is_contiguous() const {
  return node_->is_run() && node_->size == extent() && (node_->size == 0 || true_lb() == lb());
}
bool TypeMap::is_monotone() const { return node_->monotone; }
bool TypeMap::is_nondecreasing() const { return node_->monotone || run_begins(*node_).ascend; }
bool TypeMap::tiles_monotone() const {
  return node_->size == 0 || (node_->monotone && extent() >= true_extent());
}
std::int64_t TypeMap::footprint_bytes() const { return footprint(*node_); }

bool operator==(const TypeMap& a, const TypeMap& b) {
  return a.lb() == b.lb() && a.extent() == b.extent() && same_layout(*a.node_, *b.node_);
}

bool copies_fit(const TypeMap& type, std::int64_t count) {
  if (count <= 1) return true;
  Range data;
  data.add_copies(0, count, type.extent(), {type.true_lb(), type.true_lb() + type.true_extent()});
  return !data.overflowed();
}

std::int64_t offset_of(const TiledMap& map, std::int64_t position) {
  const TypeNode* node = map.type.node().get();
  std::int64_t offset = map.origin + position / node->size * map.type.extent();
  std::int64_t byte = position % node->size;
  while (true) {
    offset += node->shift;
    switch (node->kind) {
      case Kind::bytes:
        return offset + byte;
      case Kind::repeat:
        offset += byte / node->child->size * node->stride;
        byte %= node->child->size;
        node = node->child.get();
        break;
      case Kind::indexed: {
        const std::int64_t copy = byte / node->child->size;
        const std::int64_t block = node->blocks->block_of(copy);
        offset += node->blocks->displacements[block] +
                  (copy - node->blocks->copies_before(block)) * node->stride;
        byte %= node->child->size;
        node = node->child.get();
        break;
      }
      case Kind::structure: {
        const std::size_t member = node->members->member_of(byte);
        byte -= node->members->first_byte[member];
        node = node->members->nodes[member].get();
        break;
      }
    }
  }
}

std::int64_t bytes_before(const TiledMap& map, std::int64_t offset) {
  std::int64_t first = 0;  // where the first data byte lies: the lowest
  std::int64_t beyond = 0;
  if (__builtin_add_overflow(map.origin, map.type.true_lb(), &first) || offset <= first) return 0;
  if (__builtin_sub_overflow(offset, first, &beyond)) {
    beyond = std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t extent = map.type.extent();
  return beyond / extent * map.type.size() + bytes_below(*map.type.node(), beyond % extent);
}

}  // namespace nacre::plan
