#include "plan/run_cursor.h"

#include <algorithm>

#include "plan/type_node.h"

namespace nacre::plan {
namespace {

using Kind = TypeNode::Kind;

/// Nodes whose runs come out straight from the frame: bytes, and copies or blocks of bytes.
bool is_leaf(const TypeNode& node) {
  switch (node.kind) {
    case Kind::bytes:
      return true;
    case Kind::repeat:
    case Kind::indexed:
      return node.child->is_run();
    case Kind::structure:
      return false;
  }
  return false;
}

}  // namespace

RunCursor::RunCursor(const TiledMap& map, std::int64_t first_byte, std::int64_t byte_count) {
  if (byte_count <= 0 || map.type.size() == 0) return;
  // The copies that are touched are one repeat, so that touching copies join into one run.
  const std::int64_t first_tile = first_byte / map.type.size();
  const std::int64_t tiles = (first_byte + byte_count - 1) / map.type.size() - first_tile + 1;
  Result<TypeMap> root = TypeMap::repeat(map.type, tiles, map.type.extent());
  if (!root) return;
  root_ = *std::move(root);
  remaining_ = byte_count;
  push(root_.node().get(), map.origin + first_tile * map.type.extent(),
       first_byte % map.type.size());
}

/// Enters `node` with `skip_bytes` of its data already out, down to a leaf.
void RunCursor::push(const TypeNode* node, std::int64_t origin, std::int64_t skip_bytes) {
  Frame frame{node, origin + node->shift};
  switch (node->kind) {
    case Kind::bytes:
      frame.index = skip_bytes;
      stack_.push_back(frame);
      return;
    case Kind::structure: {
      const std::size_t member = node->members->member_of(skip_bytes);
      frame.index = static_cast<std::int64_t>(member) + 1;
      stack_.push_back(frame);
      push(node->members->nodes[member].get(), frame.origin,
           skip_bytes - node->members->first_byte[member]);
      return;
    }
    case Kind::repeat:
    case Kind::indexed:
      break;
  }
  frame.index = skip_bytes / node->child->size;
  frame.inner = skip_bytes % node->child->size;
  if (node->kind == Kind::indexed) frame.block = node->blocks->block_of(frame.index);
  stack_.push_back(frame);
  if (is_leaf(*node)) return;
  stack_.pop_back();
  std::int64_t child_origin = frame.origin;
  if (node->kind == Kind::repeat) {
    child_origin += frame.index * node->stride;
  } else {
    child_origin += node->blocks->displacements[static_cast<std::size_t>(frame.block)] +
                    (frame.index - node->blocks->copies_before(frame.block)) * node->stride;
  }
  const std::int64_t child_skip = frame.inner;
  frame.inner = 0;
  ++frame.index;
  stack_.push_back(frame);
  push(node->child.get(), child_origin, child_skip);
}

/// Leaves what is finished and enters what comes next, until a leaf with data is on top.
void RunCursor::descend() {
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    const TypeNode& node = *frame.node;
    switch (node.kind) {
      case Kind::bytes:
        if (frame.index < node.size) return;
        break;
      case Kind::repeat:
        if (frame.index == node.count) break;
        if (is_leaf(node)) return;
        push(node.child.get(), frame.origin + frame.index++ * node.stride, 0);
        continue;
      case Kind::indexed: {
        const BlockList& blocks = *node.blocks;
        if (frame.block < blocks.block_count() &&
            frame.index == blocks.copies_before(frame.block + 1)) {
          ++frame.block;
        }
        if (frame.block == blocks.block_count()) break;
        if (is_leaf(node)) return;
        const std::int64_t copy = frame.index++ - blocks.copies_before(frame.block);
        push(node.child.get(),
             frame.origin + blocks.displacements[static_cast<std::size_t>(frame.block)] +
                 copy * node.stride,
             0);
        continue;
      }
      case Kind::structure:
        if (frame.index == std::ssize(node.members->nodes)) break;
        push(node.members->nodes[static_cast<std::size_t>(frame.index++)].get(), frame.origin, 0);
        continue;
    }
    stack_.pop_back();
  }
}

/// From `all`, the runs that the frame has left, of at most `max_bytes`.
RunGroup RunCursor::take_copies(Frame& frame, const RunGroup& all, std::int64_t max_bytes) {
  const std::int64_t whole = frame.inner == 0 ? max_bytes / all.length : 0;
  if (whole == 0) {
    const std::int64_t length = std::min(all.length - frame.inner, max_bytes);
    const RunGroup part{all.offset + frame.inner, length, 0, 1};
    frame.inner += length;
    if (frame.inner == all.length) {
      frame.inner = 0;
      ++frame.index;
    }
    return part;
  }
  const std::int64_t count = std::min(all.count, whole);
  frame.index += count;
  return {all.offset, all.length, count == 1 ? 0 : all.stride, count};
}

RunGroup RunCursor::take(Frame& frame, std::int64_t max_bytes) {
  const TypeNode& node = *frame.node;
  if (node.kind == Kind::bytes) {
    const std::int64_t length = std::min(node.size - frame.index, max_bytes);
    const RunGroup run{frame.origin + frame.index, length, 0, 1};
    frame.index += length;
    return run;
  }
  const std::int64_t length = node.child->size;
  if (node.kind == Kind::repeat) {
    return take_copies(
        frame,
        {frame.origin + frame.index * node.stride, length, node.stride, node.count - frame.index},
        max_bytes);
  }
  const BlockList& blocks = *node.blocks;
  const std::int64_t copy = frame.index - blocks.copies_before(frame.block);
  const std::int64_t left = blocks.copies_in(frame.block) - copy;
  const std::int64_t offset = frame.origin +
                              blocks.displacements[static_cast<std::size_t>(frame.block)] +
                              copy * node.stride;
  if (node.stride != length || left == 1) {
    return take_copies(frame, {offset, length, node.stride, left}, max_bytes);
  }
  // A block of touching copies is one run.
  const std::int64_t bytes = std::min(left * length - frame.inner, max_bytes);
  const RunGroup run{offset + frame.inner, bytes, 0, 1};
  frame.index += (frame.inner + bytes) / length;
  frame.inner = (frame.inner + bytes) % length;
  return run;
}

RunGroup RunCursor::next(std::int64_t max_bytes) {
  descend();
  if (remaining_ == 0 || stack_.empty()) return {};
  const RunGroup group = take(stack_.back(), std::min(max_bytes, remaining_));
  remaining_ -= group.bytes();
  return group;
}

Extent bounds(const FileAccess& access) {
  if (access.byte_count == 0) return {};
  const TypeMap& type = access.view.type;
  if (!type.tiles_monotone()) {
    // Some byte of the copies touched is first and some last: the copies' own bounds hold them.
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

FileAccess slice(const FileAccess& access, const Extent& domain) {
  if (access.byte_count == 0) return access;
  const std::int64_t end = access.first_byte + access.byte_count;
  const std::int64_t from =
      std::clamp(bytes_before(access.view, domain.offset), access.first_byte, end);
  const std::int64_t to = std::clamp(bytes_before(access.view, domain.end()), from, end);
  return {access.view, from, to - from};
}

}  // namespace nacre::plan
