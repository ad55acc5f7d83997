#include "plan/type_map.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_cast.h"
#include "plan/type_node.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

Error overflow_error() {
  return Error{ErrorClass::type, 0, "the datatype's size or bounds exceed 64 bits"};
}

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return checked_multiply(a, b).value_or(std::numeric_limits<std::int64_t>::max());
}

/// A range of offsets that grows; nothing as soon as an offset overflows.
class Range {
 public:
  void add(std::int64_t base, std::int64_t begin, std::int64_t end) {
    const auto from = checked_add(base, begin);
    const auto to = checked_add(base, end);
    if (!from || !to) {
      overflowed_ = true;
      return;
    }
    begin_ = empty_ ? *from : std::min(begin_, *from);
    end_ = empty_ ? *to : std::max(end_, *to);
    empty_ = false;
  }
  /// Copies at base, base + stride, ..., count (> 0) of them.
  void add_copies(std::int64_t base, std::int64_t count, std::int64_t stride, const Range& of) {
    const auto reach = checked_multiply(count - 1, stride);
    const auto last = reach ? checked_add(base, *reach) : std::nullopt;
    if (!last || of.overflowed_) {
      overflowed_ = true;
      return;
    }
    if (of.empty_) return;
    add(base, of.begin_, of.end_);
    add(*last, of.begin_, of.end_);
  }
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  bool empty_ = true;
  bool overflowed_ = false;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

Range bounds_of(const TypeNode& node) {
  Range range;
  range.add(0, node.lb, node.ub);
  return range;
}

Range true_bounds_of(const TypeNode& node) {
  Range range;
  if (node.size > 0) range.add(0, node.true_lb, node.true_ub);
  return range;
}

NodePointer make_bytes(std::int64_t size, std::int64_t shift) {
  TypeNode node;
  node.size = size;
  node.shift = size > 0 ? shift : 0;
  node.lb = node.true_lb = node.shift;
  node.ub = node.true_ub = node.shift + size;
  node.run_count = size > 0 ? 1 : 0;
  return std::make_shared<const TypeNode>(std::move(node));
}

/// The same layout with other bounds; shares the lists.
NodePointer with_bounds(const NodePointer& node, std::int64_t lb, std::int64_t ub) {
  if (node->lb == lb && node->ub == ub) return node;
  TypeNode copy = *node;
  copy.lb = lb;
  copy.ub = ub;
  return std::make_shared<const TypeNode>(std::move(copy));
}

/// The same layout, all data and bounds displaced. Offsets are known to fit.
NodePointer shifted(const NodePointer& node, std::int64_t by) {
  if (by == 0) return node;
  TypeNode copy = *node;
  if (copy.size > 0) {
    copy.shift += by;
    copy.true_lb += by;
    copy.true_ub += by;
  }
  copy.lb += by;
  copy.ub += by;
  return std::make_shared<const TypeNode>(std::move(copy));
}

bool copies_are_monotone(const TypeNode& child, std::int64_t count, std::int64_t stride) {
  return child.monotone && (count <= 1 || stride >= child.true_ub - child.true_lb);
}

/// The data of `count` copies `stride` apart; bounds are the caller's to set. Sizes are known to
/// fit.
NodePointer lay_copies(const NodePointer& child, std::int64_t count, std::int64_t stride) {
  if (count == 0 || child->size == 0) return make_bytes(0, 0);
  if (count == 1) return child;
  if (child->is_run() && stride == child->size) {
    return make_bytes(child->size * count, child->shift);
  }
  TypeNode node;
  node.kind = Kind::repeat;
  node.size = child->size * count;
  node.shift = child->shift;
  node.count = count;
  node.stride = stride;
  node.monotone = copies_are_monotone(*child, count, stride);
  node.run_count = saturating_multiply(child->run_count, count);
  Range data;
  data.add_copies(0, count, stride, true_bounds_of(*child));
  node.true_lb = node.lb = data.begin();
  node.true_ub = node.ub = data.end();
  // The child's shift moves up, so that copies of equal layouts are equal.
  node.child = shifted(child, -child->shift);
  if (child->kind == Kind::repeat && stride == child->stride * child->count) {
    node.count = child->count * count;
    node.stride = child->stride;
    node.child = child->child;
  }
  return std::make_shared<const TypeNode>(std::move(node));
}

Result<NodePointer> repeat_node(const NodePointer& child, std::int64_t count, std::int64_t stride) {
  if (count < 0) {
    return Error{ErrorClass::type, 0,
                 "a datatype has a count of " + std::to_string(count) + "; it takes 0 or more"};
  }
  if (count == 0) return make_bytes(0, 0);
  Range bounds;
  bounds.add_copies(0, count, stride, bounds_of(*child));
  Range data;
  data.add_copies(0, count, stride, true_bounds_of(*child));
  if (bounds.overflowed() || data.overflowed() || !checked_multiply(child->size, count)) {
    return overflow_error();
  }
  return with_bounds(lay_copies(child, count, stride), bounds.begin(), bounds.end());
}

struct Block {
  std::int64_t displacement = 0;
  std::int64_t copies = 0;
};

bool continues(const Block& block, std::int64_t stride, std::int64_t displacement) {
  const auto length = checked_multiply(block.copies, stride);
  return length && checked_add(block.displacement, *length) == displacement;
}

/// Blocks that continue the one before them are joined to it: copies `stride` apart.
std::vector<Block> joined(std::span<const std::int64_t> lengths,
                          std::span<const std::int64_t> displacements, std::int64_t stride) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (!blocks.empty() && continues(blocks.back(), stride, displacements[i])) {
      blocks.back().copies += lengths[i];
    } else {
      blocks.push_back({displacements[i], lengths[i]});
    }
  }
  return blocks;
}

bool same_length(const std::vector<Block>& blocks) {
  return std::ranges::all_of(blocks,
                             [&](const Block& b) { return b.copies == blocks.front().copies; });
}

/// The common step of the displacements, or nothing.
std::optional<std::int64_t> constant_step(const std::vector<Block>& blocks) {
  const auto step_to = [&](std::size_t i) {
    std::int64_t step = 0;
    const bool overflow =
        __builtin_sub_overflow(blocks[i].displacement, blocks[i - 1].displacement, &step);
    return overflow ? std::nullopt : std::optional(step);
  };
  const std::optional<std::int64_t> step = step_to(1);
  for (std::size_t i = 2; step && i < blocks.size(); ++i) {
    if (step_to(i) != step) return std::nullopt;
  }
  return step;
}

bool blocks_are_monotone(const std::vector<Block>& blocks, const TypeNode& child,
                         std::int64_t stride) {
  if (!child.monotone) return false;
  const std::int64_t child_length = child.true_ub - child.true_lb;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].copies > 1 && stride < child_length) return false;
    if (i == 0) continue;
    const Block& before = blocks[i - 1];
    const std::int64_t end = before.displacement + (before.copies - 1) * stride + child_length;
    if (blocks[i].displacement < end) return false;
  }
  return true;
}

NodePointer make_indexed(const NodePointer& child, const std::vector<Block>& blocks,
                         std::int64_t stride) {
  TypeNode node;
  node.kind = Kind::indexed;
  node.stride = stride;
  node.shift = child->shift;
  auto list = std::make_shared<BlockList>();
  list->displacements.reserve(blocks.size());
  Range data;
  std::int64_t copies = 0;
  std::int64_t runs_of_runs = 0;
  const bool uniform = same_length(blocks) && blocks.front().copies == 1;
  if (!uniform) list->first_copy.reserve(blocks.size() + 1);
  for (const Block& block : blocks) {
    data.add_copies(block.displacement, block.copies, stride, true_bounds_of(*child));
    list->displacements.push_back(block.displacement);
    if (!uniform) list->first_copy.push_back(copies);
    copies += block.copies;
    ++runs_of_runs;
  }
  if (!uniform) list->first_copy.push_back(copies);
  node.size = child->size * copies;
  node.true_lb = node.lb = data.begin();
  node.true_ub = node.ub = data.end();
  node.monotone = blocks_are_monotone(blocks, *child, stride);
  const bool blocks_are_runs = child->is_run() && stride == child->size;
  node.run_count = blocks_are_runs ? runs_of_runs : saturating_multiply(child->run_count, copies);
  node.child = shifted(child, -child->shift);
  node.blocks = std::move(list);
  return std::make_shared<const TypeNode>(std::move(node));
}

/// The data of blocks of copies of `child`; bounds are the caller's to set. Sizes are known to fit.
NodePointer lay_blocks(const NodePointer& child, std::vector<Block> blocks, std::int64_t stride) {
  if (blocks.empty() || child->size == 0) return make_bytes(0, 0);
  if (same_length(blocks)) {
    const NodePointer block = lay_copies(child, blocks.front().copies, stride);
    if (blocks.size() == 1) return shifted(block, blocks.front().displacement);
    if (const auto step = constant_step(blocks)) {
      return shifted(lay_copies(block, std::ssize(blocks), *step), blocks.front().displacement);
    }
    for (Block& b : blocks) b.copies = 1;
    return make_indexed(block, blocks, stride);
  }
  return make_indexed(child, blocks, stride);
}

Status check_blocks(const TypeNode& child, std::span<const std::int64_t> lengths,
                    std::span<const std::int64_t> displacements, Range& bounds) {
  std::int64_t size = 0;
  Range data;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) {
      return Error{ErrorClass::type, 0,
                   "a datatype has a block of length " + std::to_string(lengths[i]) +
                       "; it takes 0 or more"};
    }
    if (lengths[i] == 0) continue;
    const auto bytes = checked_multiply(child.size, lengths[i]);
    const auto sum = bytes ? checked_add(size, *bytes) : std::nullopt;
    if (!sum) return overflow_error();
    size = *sum;
    const std::int64_t stride = child.ub - child.lb;
    bounds.add_copies(displacements[i], lengths[i], stride, bounds_of(child));
    data.add_copies(displacements[i], lengths[i], stride, true_bounds_of(child));
  }
  if (bounds.overflowed() || data.overflowed()) return overflow_error();
  return {};
}

/// Members one after the other; runs that touch are joined. Sizes and offsets are known to fit.
NodePointer lay_members(const std::vector<NodePointer>& parts) {
  std::vector<NodePointer> members;
  for (const NodePointer& part : parts) {
    if (part->size == 0) continue;
    if (!members.empty() && members.back()->is_run() && part->is_run() &&
        members.back()->true_ub == part->true_lb) {
      members.back() = make_bytes(members.back()->size + part->size, members.back()->shift);
    } else {
      members.push_back(part);
    }
  }
  if (members.empty()) return make_bytes(0, 0);
  if (members.size() == 1) return members.front();
  if (std::ranges::all_of(members, [](const NodePointer& m) { return m->is_run(); })) {
    std::vector<Block> blocks;
    for (const NodePointer& m : members) blocks.push_back({m->true_lb, m->size});
    return lay_blocks(make_bytes(1, 0), std::move(blocks), 1);
  }
  TypeNode node;
  node.kind = Kind::structure;
  auto list = std::make_shared<MemberList>();
  Range data;
  for (const NodePointer& m : members) {
    node.monotone = node.monotone && m->monotone &&
                    (list->nodes.empty() || m->true_lb >= list->nodes.back()->true_ub);
    list->first_byte.push_back(node.size);
    node.size += m->size;
    node.run_count = checked_add(node.run_count, m->run_count)
                         .value_or(std::numeric_limits<std::int64_t>::max());
    data.add(0, m->true_lb, m->true_ub);
    list->nodes.push_back(m);
  }
  node.true_lb = node.lb = data.begin();
  node.true_ub = node.ub = data.end();
  node.members = std::move(list);
  return std::make_shared<const TypeNode>(std::move(node));
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
  constexpr auto word = static_cast<std::int64_t>(sizeof(std::int64_t));
  if (node.child) bytes += footprint(*node.child);
  if (node.blocks) {
    bytes += word * (std::ssize(node.blocks->displacements) + std::ssize(node.blocks->first_copy));
  }
  if (node.members) {
    bytes += word * std::ssize(node.members->first_byte);
    for (const NodePointer& m : node.members->nodes) bytes += footprint(*m);
  }
  return bytes;
}

/// Copies of `child` wholly or partly below `offset`: all of the first ones, part of the last.
std::int64_t bytes_before_in_copies(const TypeNode& child, std::int64_t count, std::int64_t stride,
                                    std::int64_t offset) {
  if (offset <= child.true_lb) return 0;
  const std::int64_t copy = count == 1 ? 0 : std::min((offset - child.true_lb) / stride, count - 1);
  return copy * child.size + bytes_before(child, offset - copy * stride);
}

std::int64_t bytes_before_in_blocks(const TypeNode& node, std::int64_t offset) {
  const BlockList& blocks = *node.blocks;
  const auto& at = blocks.displacements;
  const std::int64_t limit = offset - node.child->true_lb;
  const auto after = std::ranges::lower_bound(at, limit);
  if (after == at.begin()) return 0;
  const std::int64_t block = (after - at.begin()) - 1;
  return blocks.copies_before(block) * node.child->size +
         bytes_before_in_copies(*node.child, blocks.copies_in(block), node.stride,
                                offset - at[static_cast<std::size_t>(block)]);
}

std::int64_t bytes_before_in_members(const MemberList& members, std::int64_t offset) {
  const auto after = std::ranges::lower_bound(members.nodes, offset, {},
                                              [](const NodePointer& m) { return m->true_lb; });
  if (after == members.nodes.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - members.nodes.begin()) - 1;
  return members.first_byte[last] + bytes_before(*members.nodes[last], offset);
}

}  // namespace

std::int64_t BlockList::block_of(std::int64_t copy) const {
  if (first_copy.empty()) return copy;
  return (std::ranges::upper_bound(first_copy, copy) - first_copy.begin()) - 1;
}

std::size_t MemberList::member_of(std::int64_t byte) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_byte, byte) - first_byte.begin()) -
         1;
}

std::int64_t bytes_before(const TypeNode& node, std::int64_t offset) {
  const std::int64_t inside = offset - node.shift;
  switch (node.kind) {
    case Kind::bytes:
      return std::clamp<std::int64_t>(inside, 0, node.size);
    case Kind::repeat:
      return bytes_before_in_copies(*node.child, node.count, node.stride, inside);
    case Kind::indexed:
      return bytes_before_in_blocks(node, inside);
    case Kind::structure:
      return bytes_before_in_members(*node.members, inside);
  }
  return 0;
}

TypeMap::TypeMap() : node_(make_bytes(0, 0)) {}
TypeMap::TypeMap(NodePointer node) : node_(std::move(node)) {}

TypeMap TypeMap::bytes(std::int64_t size) { return TypeMap(make_bytes(size, 0)); }

Result<TypeMap> TypeMap::repeat(const TypeMap& child, std::int64_t count,
                                std::int64_t stride_bytes) {
  Result<NodePointer> node = repeat_node(child.node_, count, stride_bytes);
  if (!node) return std::move(node).error();
  return TypeMap(*std::move(node));
}

Result<TypeMap> TypeMap::indexed(const TypeMap& child, std::span<const std::int64_t> block_lengths,
                                 std::span<const std::int64_t> displacements_bytes) {
  const TypeNode& of = *child.node_;
  Range bounds;
  if (Status valid = check_blocks(of, block_lengths, displacements_bytes, bounds); !valid) {
    return std::move(valid).error();
  }
  const std::int64_t stride = of.ub - of.lb;
  if (of.size == 0) return TypeMap(with_bounds(make_bytes(0, 0), bounds.begin(), bounds.end()));
  return TypeMap(with_bounds(
      lay_blocks(child.node_, joined(block_lengths, displacements_bytes, stride), stride),
      bounds.begin(), bounds.end()));
}

Result<TypeMap> TypeMap::structure(std::span<const Field> fields) {
  Range bounds;
  std::vector<NodePointer> parts;
  std::int64_t size = 0;
  for (const Field& field : fields) {
    const std::int64_t stride = field.type->ub - field.type->lb;
    if (Status valid = check_blocks(*field.type, std::span(&field.block_length, 1),
                                    std::span(&field.displacement_bytes, 1), bounds);
        !valid) {
      return std::move(valid).error();
    }
    const auto sum = checked_add(size, field.type->size * field.block_length);
    if (!sum) return overflow_error();
    size = *sum;
    parts.push_back(
        shifted(lay_copies(field.type, field.block_length, stride), field.displacement_bytes));
  }
  return TypeMap(with_bounds(lay_members(parts), bounds.begin(), bounds.end()));
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
std::int64_t TypeMap::true_extent() const { return node_->true_ub - node_->true_lb; }
std::int64_t TypeMap::run_count() const { return node_->run_count; }
bool TypeMap::is_contiguous() const {
  return node_->is_run() && node_->size == extent() && (node_->size == 0 || true_lb() == lb());
}
bool TypeMap::is_monotone() const { return node_->monotone; }
bool TypeMap::tiles_monotone() const {
  return node_->size == 0 || (node_->monotone && extent() >= true_extent());
}
std::int64_t TypeMap::footprint_bytes() const { return footprint(*node_); }

bool operator==(const TypeMap& a, const TypeMap& b) {
  return a.lb() == b.lb() && a.extent() == b.extent() && same_layout(*a.node_, *b.node_);
}

std::int64_t offset_of(const TiledMap& map, std::int64_t position) {
  const TypeNode* node = map.type.node().get();
  std::int64_t origin = map.origin + position / node->size * map.type.extent();
  std::int64_t byte = position % node->size;
  while (true) {
    origin += node->shift;
    switch (node->kind) {
      case Kind::bytes:
        return origin + byte;
      case Kind::repeat:
        origin += byte / node->child->size * node->stride;
        byte %= node->child->size;
        node = node->child.get();
        break;
      case Kind::indexed: {
        const std::int64_t copy = byte / node->child->size;
        const std::int64_t block = node->blocks->block_of(copy);
        origin += node->blocks->displacements[static_cast<std::size_t>(block)] +
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
  const std::int64_t from_first = offset - map.origin - map.type.true_lb();
  if (from_first <= 0) return 0;
  const std::int64_t tile = from_first / map.type.extent();
  return tile * map.type.size() +
         bytes_before(*map.type.node(), offset - map.origin - tile * map.type.extent());
}

}  // namespace nacre::plan
