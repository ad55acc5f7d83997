#include "sim/lustre/range_locks.h"

#include <algorithm>

namespace nacre::sim {

const RangeLock* RangeLocks::find_conflict(const RangeLock& wanted) const {
  const auto found = std::ranges::find_if(held_, [&](const RangeLock& held) {
    return held.owner != wanted.owner && (held.exclusive || wanted.exclusive) &&
           !intersection(held.range, wanted.range).empty();
  });
  return found == held_.end() ? nullptr : &*found;
}

std::optional<RangeLock> RangeLocks::conflict(const RangeLock& wanted) {
  const std::lock_guard guard(mutex_);
  const RangeLock* const found = find_conflict(wanted);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool RangeLocks::take(const RangeLock& wanted, bool waits,
                      const std::function<bool()>& is_interrupted) {
  std::unique_lock guard(mutex_);
  while (find_conflict(wanted) != nullptr) {
    if (!waits || is_interrupted()) return false;
    released_->wait(guard);
  }
  remove_range(wanted.owner, wanted.range);
  held_.push_back(wanted);
  released_->notify_all();  // it may replace a lock that excluded more
  return true;
}

void RangeLocks::release(const LockOwner& owner, const Extent& range) {
  const std::lock_guard guard(mutex_);
  remove_range(owner, range);
  released_->notify_all();
}

void RangeLocks::remove_range(const LockOwner& owner, const Extent& range) {
  std::vector<RangeLock> kept;
  for (const RangeLock& held : held_) {
    const Extent common = intersection(held.range, range);
    if (held.owner != owner || common.empty()) {
      kept.push_back(held);
      continue;
    }
    RangeLock part = held;
    part.range = {held.range.offset, common.offset - held.range.offset};
    if (!part.range.empty()) kept.push_back(part);
    part.range = {common.end(), held.range.end() - common.end()};
    if (!part.range.empty()) kept.push_back(part);
  }
  held_ = std::move(kept);
}

}  // namespace nacre::sim
