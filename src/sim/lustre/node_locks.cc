#include "sim/lustre/node_locks.h"

#include <algorithm>
#include <cerrno>

#include "sim/lustre/errno_result.h"

namespace nacre::sim {

Status NodeLocks::acquire_group(std::int32_t node, std::int32_t number) {
  const std::lock_guard guard(mutex_);
  if (number < 1 || !opens_.contains(node)) return refused(EINVAL);
  if (number_ != 0 && number_ != number) return refused(EBUSY);
  number_ = number;
  ++holds_[node];
  changed_->notify_all();  // calls of this node need not wait any longer
  return {};
}

Status NodeLocks::release_group(std::int32_t node, std::int32_t number) {
  const std::lock_guard guard(mutex_);
  const auto held = holds_.find(node);
  if (number != number_ || held == holds_.end()) return refused(EINVAL);
  if (--held->second == 0) drop_holder(node);
  return {};
}

void NodeLocks::drop_holder(std::int32_t node) {
  holds_.erase(node);
  if (!holds_.empty()) return;
  number_ = 0;
  changed_->notify_all();
}

Result<LockWish> NodeLocks::pass(std::int32_t node, const std::function<bool()>& is_interrupted) {
  std::unique_lock guard(mutex_);
  without_layout_.erase(node);
  behind_.erase(node);
  while (number_ != 0 && !holds_.contains(node)) {
    if (is_interrupted()) return refused(EINTR);
    changed_->wait(guard);
  }
  if (number_ != 0) return LockWish::none;
  return narrow_.contains(node) ? LockWish::narrow : LockWish::wide;
}

void NodeLocks::narrow(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  narrow_.insert(node);
}

void NodeLocks::believe_size(std::int32_t node, std::int64_t size) {
  const std::lock_guard guard(mutex_);
  if (opens_.contains(node)) believed_sizes_[node] = size;
}

std::int64_t NodeLocks::seen_size(std::int32_t node, std::int64_t size) {
  const std::lock_guard guard(mutex_);
  const auto believed = believed_sizes_.find(node);
  return believed == believed_sizes_.end() ? size : std::max(size, believed->second);
}

void NodeLocks::note_no_layout(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  without_layout_.insert(node);
}

void NodeLocks::note_layout_set(std::int32_t node, bool is_first) {
  const std::lock_guard guard(mutex_);
  const bool looked_in_vain = without_layout_.erase(node) == 1;
  if (looked_in_vain && !is_first) behind_.insert(node);
}

bool NodeLocks::sees_layout(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  return !behind_.contains(node);
}

void NodeLocks::note_open(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  ++opens_[node];
}

void NodeLocks::note_close(std::int32_t node) {
  const std::lock_guard guard(mutex_);
  if (--opens_[node] > 0) return;
  opens_.erase(node);
  narrow_.erase(node);
  believed_sizes_.erase(node);
  without_layout_.erase(node);
  behind_.erase(node);
  if (holds_.contains(node)) drop_holder(node);
}

}  // namespace nacre::sim
