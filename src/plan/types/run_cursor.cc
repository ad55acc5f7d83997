#include "plan/types/run_cursor.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "plan/types/type_node.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

}  // namespace

RunCursor::RunCursor(const TiledMap& map, std::int64_t first_byte, std::int64_t byte_count) {
  if (byte_count <= 0 || map.type.size() == 0) return;
  // One repeat of all touched copies, so that adjacent copies join into one run.
  const std::int64_t first_copy = first_byte / map.type.size();
  const std::int64_t copies = (first_byte + byte_count - 1) / map.type.size() - first_copy + 1;
  Result<NodePointer> root = make_copies(map.type.node(), copies, map.type.extent());
  assert(root.ok());
  if (!root) return;
  root_ = *std::move(root);
  remaining_ = byte_count;
  stack_.reserve(8);
  enter(root_.get(), map.origin + first_copy * map.type.extent() + root_->shift,
        first_byte % map.type.size());
}

/// Moves a frame of an indexed node to the front of a block.
inline void RunCursor::begin_block(Frame& frame, std::int64_t block) {
  const TypeNode& node = *frame.node;
  const std::int64_t copies = node.blocks->copies_in(block);
  frame.block = block;
  frame.first = frame.origin + node.blocks->displacements[block];
  frame.index = 0;
  if (!node.child->is_run()) {
    frame.count = copies;
  } else if (copies > 1 && node.stride == node.child->size) {
    frame.count = 1;  // copies that touch are one run
    frame.length = copies * node.child->size;
  } else {
    frame.count = copies;
    frame.length = node.child->size;
  }
}

/// Moves a frame, whose node and origin are set, past `skip_bytes` of the node's data. Returns how
/// many of these bytes lie in the copy `index`.
std::int64_t RunCursor::begin(Frame& frame, std::int64_t skip_bytes) {
  const TypeNode& node = *frame.node;
  frame.first = frame.origin;
  switch (node.kind) {
    case Kind::bytes:
      frame.count = 1;
      frame.length = node.size;
      return skip_bytes;
    case Kind::structure: {
      frame.count = std::ssize(node.members->nodes);
      const std::size_t member = node.members->member_of(skip_bytes);
      frame.index = static_cast<std::int64_t>(member);
      return skip_bytes - node.members->first_byte[member];
    }
    case Kind::repeat:
      frame.count = node.count;
      frame.stride = node.stride;
      frame.length = node.child->is_run() ? node.child->size : 0;
      break;
    case Kind::indexed: {
      // Most nodes are entered at their front, without search and division.
      const std::int64_t block =
          skip_bytes == 0 ? 0 : node.blocks->block_of(skip_bytes / node.child->size);
      frame.stride = node.stride;
      begin_block(frame, block);
      skip_bytes -= node.blocks->copies_before(block) * node.child->size;
      break;
    }
  }
  if (skip_bytes == 0) return 0;
  const std::int64_t copy_size = frame.length > 0 ? frame.length : node.child->size;
  frame.index = skip_bytes / copy_size;
  return skip_bytes % copy_size;
}

/// Pushes `node`, whose first byte lies at `origin`, and its inner nodes at the position after
/// `skip_bytes` of its data.
void RunCursor::enter(const TypeNode* node, std::int64_t origin, std::int64_t skip_bytes) {
  while (true) {
    Frame& frame = stack_.emplace_back();
    frame.node = node;
    frame.origin = origin;
    skip_bytes = begin(frame, skip_bytes);
    if (frame.length > 0) {
      frame.inner = skip_bytes;
      return;
    }
    const std::int64_t child = frame.index++;
    if (node->kind == Kind::structure) {
      node = node->members->nodes[static_cast<std::size_t>(child)].get();
      origin += node->shift;
    } else {
      node = node->child.get();
      origin = frame.first + child * frame.stride;
    }
  }
}

/// The frame whose copy the finished node on top is, if it has more copies.
RunCursor::Frame* RunCursor::parent_of_finished() {
  if (stack_.size() < 2) return nullptr;
  Frame& parent = stack_[stack_.size() - 2];
  const bool has_more = parent.node->kind != Kind::structure && parent.index < parent.count;
  return has_more ? &parent : nullptr;
}

/// Moves the finished node on top to its next copy. Returns false if there is none.
bool RunCursor::begin_next_copy() {
  Frame* const parent = parent_of_finished();
  if (parent == nullptr) return false;
  Frame& frame = stack_.back();
  frame.origin = parent->first + parent->index++ * parent->stride;
  if (frame.node->kind == Kind::indexed) {
    begin_block(frame, 0);
  } else {
    frame.first = frame.origin;
    frame.index = 0;
  }
  return true;
}

/// The fast path of enter_next() for the blocks of a list of runs.
inline bool RunCursor::begin_next_run_block() {
  Frame& frame = stack_.back();
  const TypeNode& node = *frame.node;
  if (node.kind != Kind::indexed || frame.length == 0) return false;
  if (frame.block + 1 == node.blocks->block_count()) return false;
  begin_block(frame, frame.block + 1);
  return true;
}

/// Pops the finished leaf on top and other finished nodes, then enters the next leaf.
void RunCursor::enter_next() {
  while (true) {
    Frame& frame = stack_.back();
    const TypeNode& node = *frame.node;
    if (frame.index == frame.count) {
      if (node.kind == Kind::indexed && frame.block + 1 < node.blocks->block_count()) {
        begin_block(frame, frame.block + 1);
      } else if (!begin_next_copy()) {
        stack_.pop_back();
        continue;
      }
    }
    if (frame.length > 0) return;
    const std::int64_t child = frame.index++;
    if (node.kind == Kind::structure) {
      const TypeNode* member = node.members->nodes[static_cast<std::size_t>(child)].get();
      return enter(member, frame.origin + member->shift, 0);
    }
    return enter(node.child.get(), frame.first + child * frame.stride, 0);
  }
}

RunSeries RunCursor::next(std::int64_t max_bytes) {
  if (remaining_ == 0) return {};
  if (stack_.back().index == stack_.back().count && !begin_next_run_block()) enter_next();
  Frame& frame = stack_.back();
  const std::int64_t limit = std::min(max_bytes, remaining_);
  RunSeries series{frame.first + frame.index * frame.stride + frame.inner, frame.length, 0, 1};
  if (frame.inner == 0 && frame.length <= limit) {
    const std::int64_t left = frame.count - frame.index;
    series.count = left * frame.length <= limit ? left : limit / frame.length;
    series.stride = series.count == 1 ? 0 : frame.stride;
    frame.index += series.count;
  } else {
    series.length = std::min(frame.length - frame.inner, limit);
    frame.inner += series.length;
    if (frame.inner == frame.length) {
      frame.inner = 0;
      ++frame.index;
    }
  }
  remaining_ -= series.bytes();
  return series;
}

RunRows RunCursor::next_rows(std::int64_t max_bytes) {
  const std::int64_t limit = std::min(max_bytes, remaining_);
  RunRows rows{next(max_bytes), 1, 0};
  if (rows.row.count == 0) return {};
  const Frame& frame = stack_.back();
  const bool is_whole = frame.index == frame.count && rows.row.count == frame.count &&
                        rows.row.length == frame.length && frame.node->kind == Kind::repeat;
  if (!is_whole) return rows;
  Frame* const parent = parent_of_finished();
  if (parent == nullptr) return rows;
  const std::int64_t fitting = limit / rows.row.bytes() - 1;
  const std::int64_t more = std::min(parent->count - parent->index, fitting);
  parent->index += more;
  remaining_ -= more * rows.row.bytes();
  rows.rows += more;
  rows.row_stride = parent->stride;
  return rows;
}

Extent bounds(const FileAccess& access) {
  if (access.byte_count == 0) return {};
  const TypeMap& type = access.view.type;
  if (!type.tiles_monotone()) {
    // Any copy between the first and the last lies between them.
    const std::int64_t first_tile = access.first_byte / type.size();
    const std::int64_t last_tile = (access.first_byte + access.byte_count - 1) / type.size();
    const auto copy = [&](std::int64_t tile) {
      return Extent{access.view.origin + tile * type.extent() + type.true_lb(), type.true_extent()};
    };
    return hull(copy(first_tile), copy(last_tile));
  }
  const std::int64_t first = offset_of(access.view, access.first_byte);
  const std::int64_t last = offset_of(access.view, access.first_byte + access.byte_count - 1);
  return {first, last + 1 - first};
}

std::int64_t end_of_last_copy(const FileAccess& access) {
  if (access.byte_count == 0) return 0;
  const TypeMap& type = access.view.type;
  const std::int64_t tile = (access.first_byte + access.byte_count - 1) / type.size();
  const std::int64_t end = type.true_lb() + type.true_extent();
  const std::int64_t copy = access.view.origin + tile * type.extent();
  const bool fits =
      copy <= std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(end, 0);
  return std::max(bounds(access).end(), fits ? copy + end : 0);
}

}  // namespace nacre::plan
