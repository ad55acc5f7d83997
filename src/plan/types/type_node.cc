#include "plan/types/type_node.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/checked_cast.h"
#include "plan/types/type_map.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

Range data_of(const TypeNode& node) { return {node.true_lb, node.true_ub}; }

void set_bounds(TypeNode& node, const Range& data) {
  node.lb = node.true_lb = data.begin();
  node.ub = node.true_ub = data.end();
}

/// The node with its first data byte at `shift`. The caller knows that it fits. node->size > 0.
NodePointer placed(const NodePointer& node, std::int64_t shift) {
  const bool natural = node->lb == node->true_lb && node->ub == node->true_ub;
  if (node->shift == shift && natural) return node;
  TypeNode copy = *node;
  // From the first byte to either bound first: that distance always fits.
  set_bounds(copy, {shift + (node->true_lb - node->shift), shift + (node->true_ub - node->shift)});
  copy.shift = shift;
  return std::make_shared<const TypeNode>(std::move(copy));
}

bool copies_are_monotone(const TypeNode& child, std::int64_t count, std::int64_t stride) {
  return child.monotone && (count <= 1 || stride >= child.data_span());
}

bool continues(const Block& block, std::int64_t stride, std::int64_t displacement) {
  const auto length = checked_multiply(block.copies, stride);
  return length && checked_add(block.displacement, *length) == displacement;
}

void join(std::vector<Block>& blocks, std::int64_t stride) {
  std::size_t kept = 0;
  for (const Block& block : blocks) {
    if (kept > 0 && continues(blocks[kept - 1], stride, block.displacement)) {
      blocks[kept - 1].copies += block.copies;
    } else {
      blocks[kept++] = block;
    }
  }
  blocks.resize(kept);
}

bool all_have(const std::vector<Block>& blocks, std::int64_t copies) {
  return std::ranges::all_of(blocks, [=](const Block& b) { return b.copies == copies; });
}

/// The distance from each block to the next, if all distances are equal. Two blocks or more.
std::optional<std::int64_t> constant_step(const std::vector<Block>& blocks) {
  const auto distance = [](const Block& a, const Block& b) {
    return checked_subtract(b.displacement, a.displacement);
  };
  const auto step = distance(blocks[0], blocks[1]);
  for (std::size_t i = 2; step && i < blocks.size(); ++i) {
    if (distance(blocks[i - 1], blocks[i]) != step) return std::nullopt;
  }
  return step;
}

/// The data bytes of all blocks, if they and their offsets fit 64 bits.
std::optional<std::int64_t> size_of_blocks(const TypeNode& child, const std::vector<Block>& blocks,
                                           std::int64_t stride, Range& data) {
  std::int64_t size = 0;
  for (const Block& block : blocks) {
    data.add_copies(block.displacement, block.copies, stride, data_of(child));
    const auto bytes = checked_multiply(child.size, block.copies);
    const auto sum = bytes ? checked_add(size, *bytes) : std::nullopt;
    if (!sum) return std::nullopt;
    size = *sum;
  }
  if (data.overflowed()) return std::nullopt;
  return size;
}

/// Displacements relative to the first one.
bool blocks_are_monotone(const TypeNode& child, const std::vector<Block>& blocks,
                         std::int64_t stride) {
  if (!child.monotone) return false;
  std::int64_t end = 0;
  for (const Block& block : blocks) {
    if (block.displacement < end || (block.copies > 1 && stride < child.data_span())) return false;
    end = block.displacement + (block.copies - 1) * stride + child.data_span();
  }
  return true;
}

/// Adds `times` equal gaps. Runs that overlap or go backwards have none.
void add_gaps(TypeNode& node, std::int64_t gap, std::int64_t times) {
  if (gap > bridged_gap_bytes) {
    node.wide_gap_count = saturating_add(node.wide_gap_count, times);
  } else if (gap > 0) {
    node.near_gap_bytes = saturating_add(node.near_gap_bytes, saturating_multiply(gap, times));
  }
}

void add_gaps_of(TypeNode& node, const TypeNode& part, std::int64_t times) {
  node.wide_gap_count =
      saturating_add(node.wide_gap_count, saturating_multiply(part.wide_gap_count, times));
  node.near_gap_bytes =
      saturating_add(node.near_gap_bytes, saturating_multiply(part.near_gap_bytes, times));
}

/// `blocks` have 64-bit bounds.
void add_gaps_of_blocks(TypeNode& node, const TypeNode& child, const std::vector<Block>& blocks,
                        std::int64_t stride) {
  std::int64_t end = blocks.front().displacement;
  for (const Block& block : blocks) {
    add_gaps(node, block.displacement - end, 1);
    add_gaps(node, stride - child.data_span(), block.copies - 1);
    add_gaps_of(node, child, block.copies);
    end = block.displacement + (block.copies - 1) * stride + child.data_span();
  }
}

std::int64_t runs_of_blocks(const TypeNode& child, std::int64_t copies, std::int64_t blocks,
                            std::int64_t stride) {
  if (child.is_run() && stride == child.size) return blocks;
  return saturating_multiply(child.run_count, copies);
}

/// An indexed node. `blocks` are two or more, normal, and have the bounds `data` in 64 bits.
NodePointer make_indexed(const NodePointer& child, std::vector<Block> blocks, std::int64_t stride,
                         const Range& data) {
  TypeNode node;
  node.kind = Kind::indexed;
  node.child = placed(child, 0);
  node.shift = child->shift + blocks.front().displacement;
  set_bounds(node, data);
  const std::int64_t first = blocks.front().displacement;
  for (Block& block : blocks) block.displacement -= first;
  const bool single = all_have(blocks, 1);
  node.stride = single ? 0 : stride;
  node.monotone = blocks_are_monotone(*node.child, blocks, stride);
  add_gaps_of_blocks(node, *node.child, blocks, stride);

  std::vector<std::int64_t> numbers;
  numbers.reserve(blocks.size() + 1);
  for (const Block& block : blocks) numbers.push_back(block.displacement);
  auto list = std::make_shared<BlockList>();
  list->displacements = NumberList(numbers);
  std::int64_t copies = 0;
  numbers.clear();
  for (const Block& block : blocks) {
    numbers.push_back(copies);
    copies += block.copies;
  }
  numbers.push_back(copies);
  if (!single) list->first_copy = NumberList(numbers);
  node.size = child->size * copies;
  node.run_count = runs_of_blocks(*child, copies, std::ssize(blocks), node.stride);
  node.blocks = std::move(list);
  return std::make_shared<const TypeNode>(std::move(node));
}

/// Joins runs that touch.
std::vector<NodePointer> joined_members(const std::vector<NodePointer>& parts) {
  std::vector<NodePointer> members;
  for (const NodePointer& part : parts) {
    if (part->size == 0) continue;
    const bool touches = !members.empty() && members.back()->is_run() && part->is_run() &&
                         members.back()->true_ub == part->true_lb;
    // If the size overflows, the bounds overflow too, and the caller fails.
    const auto size = touches ? checked_add(members.back()->size, part->size) : std::nullopt;
    if (size) {
      members.back() = placed(make_bytes(*size), members.back()->shift);
    } else {
      members.push_back(part);
    }
  }
  return members;
}

}  // namespace

void Range::add_copies(std::int64_t base, std::int64_t count, std::int64_t stride,
                       const Range& of) {
  std::int64_t reach = 0;
  std::int64_t last = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  if (__builtin_mul_overflow(count - 1, stride, &reach) ||
      __builtin_add_overflow(base, reach, &last) ||
      __builtin_add_overflow(std::min(base, last), of.begin_, &from) ||
      __builtin_add_overflow(std::max(base, last), of.end_, &to)) {
    overflowed_ = true;
    return;
  }
  begin_ = empty_ ? from : std::min(begin_, from);
  end_ = empty_ ? to : std::max(end_, to);
  empty_ = false;
}

bool Range::overflowed() const { return overflowed_ || !checked_subtract(end_, begin_); }

std::size_t MemberList::member_of(std::int64_t byte) const {
  const auto after = std::ranges::upper_bound(first_byte, byte);
  return static_cast<std::size_t>(after - first_byte.begin()) - 1;
}

Error overflow_error() {
  return Error{ErrorClass::type, 0, "datatype: its size or its bounds exceed 64 bits"};
}

NodePointer make_bytes(std::int64_t size) {
  TypeNode node;
  node.size = size;
  node.ub = node.true_ub = size;
  node.run_count = size > 0 ? 1 : 0;
  return std::make_shared<const TypeNode>(std::move(node));
}

Result<NodePointer> make_copies(const NodePointer& child, std::int64_t count, std::int64_t stride) {
  if (count == 0 || child->size == 0) return make_bytes(0);
  if (count == 1) return placed(child, child->shift);
  Range data;
  data.add_copies(0, count, stride, data_of(*child));
  const auto size = checked_multiply(child->size, count);
  if (!size || data.overflowed()) return overflow_error();
  if (child->is_run() && stride == child->size) return placed(make_bytes(*size), child->shift);
  TypeNode node;
  node.kind = Kind::repeat;
  node.size = *size;
  node.shift = child->shift;
  node.run_count = saturating_multiply(child->run_count, count);
  node.monotone = copies_are_monotone(*child, count, stride);
  add_gaps_of(node, *child, count);
  add_gaps(node, stride - child->data_span(), count - 1);
  set_bounds(node, data);
  if (child->kind == Kind::repeat && checked_multiply(child->stride, child->count) == stride) {
    node.count = child->count * count;
    node.stride = child->stride;
    node.child = child->child;
  } else {
    node.count = count;
    node.stride = stride;
    node.child = placed(child, 0);
  }
  return std::make_shared<const TypeNode>(std::move(node));
}

Result<NodePointer> make_blocks(const NodePointer& child, std::vector<Block> blocks,
                                std::int64_t stride) {
  if (blocks.empty() || child->size == 0) return make_bytes(0);
  Range data;
  if (!size_of_blocks(*child, blocks, stride, data)) return overflow_error();
  const bool blocks_are_runs = child->is_run() && (stride == child->size || all_have(blocks, 1));
  // Blocks of runs become blocks of single bytes, so that equal layouts get equal trees.
  const NodePointer part = blocks_are_runs ? make_bytes(1) : child;
  if (blocks_are_runs) {
    for (Block& block : blocks) {
      block.displacement += child->shift;
      block.copies *= child->size;
    }
    stride = 1;
  }
  join(blocks, stride);
  if (!all_have(blocks, blocks.front().copies)) {
    return make_indexed(part, std::move(blocks), stride, data);
  }
  const Result<NodePointer> block = make_copies(part, blocks.front().copies, stride);
  if (!block) return block.error();
  for (Block& b : blocks) b.copies = 1;
  return make_single_blocks(*block, std::move(blocks));
}

Result<NodePointer> make_single_blocks(const NodePointer& child, std::vector<Block> blocks) {
  if (blocks.empty() || child->size == 0) return make_bytes(0);
  const std::int64_t first = blocks.front().displacement;
  if (blocks.size() == 1) return moved(child, first);
  if (const auto step = constant_step(blocks)) {
    const Result<NodePointer> copy = moved(child, first);
    return copy ? make_copies(*copy, std::ssize(blocks), *step) : copy;
  }
  Range data;
  if (!size_of_blocks(*child, blocks, 0, data)) return overflow_error();
  return make_indexed(child, std::move(blocks), 0, data);
}

Result<NodePointer> make_members(const std::vector<NodePointer>& parts) {
  const std::vector<NodePointer> members = joined_members(parts);
  if (members.empty()) return make_bytes(0);
  if (members.size() == 1) return placed(members.front(), members.front()->shift);
  if (std::ranges::all_of(members, [](const NodePointer& m) { return m->is_run(); })) {
    std::vector<Block> blocks;
    blocks.reserve(members.size());
    for (const NodePointer& m : members) blocks.push_back({m->shift, m->size});
    return make_blocks(make_bytes(1), std::move(blocks), 1);
  }
  Range data;
  for (const NodePointer& m : members) data.add_copies(0, 1, 0, data_of(*m));
  if (data.overflowed()) return overflow_error();
  TypeNode node;
  node.kind = Kind::structure;
  node.shift = members.front()->shift;
  set_bounds(node, data);
  auto list = std::make_shared<MemberList>();
  std::int64_t end = data.begin();
  for (const NodePointer& m : members) {
    node.monotone = node.monotone && m->monotone && m->true_lb >= end;
    if (node.size > 0) add_gaps(node, m->true_lb - end, 1);
    add_gaps_of(node, *m, 1);
    end = m->true_ub;
    list->first_byte.push_back(node.size);
    const auto size = checked_add(node.size, m->size);
    if (!size) return overflow_error();
    node.size = *size;
    node.run_count = saturating_add(node.run_count, m->run_count);
    list->nodes.push_back(placed(m, m->shift - node.shift));
  }
  node.members = std::move(list);
  return std::make_shared<const TypeNode>(std::move(node));
}

Result<NodePointer> moved(const NodePointer& node, std::int64_t by) {
  if (node->size == 0) return make_bytes(0);
  Range data;
  data.add_copies(by, 1, 0, data_of(*node));
  if (data.overflowed()) return overflow_error();
  return placed(node, node->shift + by);
}

NodePointer with_bounds(const NodePointer& node, std::int64_t lb, std::int64_t ub) {
  if (node->lb == lb && node->ub == ub) return node;
  TypeNode copy = *node;
  copy.lb = lb;
  copy.ub = ub;
  return std::make_shared<const TypeNode>(std::move(copy));
}

}  // namespace nacre::plan
