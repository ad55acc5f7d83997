#include "sim/lustre/extent_locks.h"

#include <algorithm>
#include <limits>

namespace nacre::sim {
namespace {

bool are_incompatible(const ExtentLocks::Lock& a, const ExtentLocks::Lock& b) {
  return a.node != b.node && (a.exclusive || b.exclusive);
}

bool are_in_conflict(const ExtentLocks::Lock& a, const ExtentLocks::Lock& b) {
  return are_incompatible(a, b) && !intersection(a.extent, b.extent).empty();
}

bool contains(const Extent& outer, const Extent& inner) {
  return outer.offset <= inner.offset && outer.end() >= inner.end();
}

}  // namespace

/// The requests before `wanted`; all if it does not wait.
std::span<const ExtentLocks::Lock> ExtentLocks::waiting_before(const Lock& wanted) const {
  return {waiting_.begin(), std::ranges::find(waiting_, wanted)};
}

bool ExtentLocks::covers(const Lock& wanted) const {
  const std::span<const Lock> before = waiting_before(wanted);
  return std::ranges::any_of(granted_, [&](const Lock& lock) {
    return lock.node == wanted.node && (lock.exclusive || !wanted.exclusive) &&
           contains(lock.extent, wanted.extent) &&
           std::ranges::none_of(before,
                                [&](const Lock& other) { return are_in_conflict(lock, other); });
  });
}

bool ExtentLocks::is_next(const Lock& wanted) const {
  return std::ranges::none_of(waiting_before(wanted),
                              [&](const Lock& other) { return are_in_conflict(other, wanted); });
}

bool ExtentLocks::conflicts(const Lock& wanted) const {
  const auto is_in_conflict = [&](const Lock& lock) { return are_in_conflict(lock, wanted); };
  return std::ranges::any_of(granted_, is_in_conflict) ||
         std::ranges::any_of(waiting_, is_in_conflict);
}

std::vector<std::int32_t> ExtentLocks::call_back(const Lock& wanted) {
  std::vector<std::int32_t> nodes;
  std::erase_if(granted_, [&](const Lock& lock) {
    const bool is_revoked = are_in_conflict(lock, wanted);
    if (is_revoked && std::ranges::find(nodes, lock.node) == nodes.end())
      nodes.push_back(lock.node);
    return is_revoked;
  });
  return nodes;
}

void ExtentLocks::give_up(const Lock& wanted) {
  const auto found = std::ranges::find(waiting_, wanted);
  if (found != waiting_.end()) waiting_.erase(found);
}

/// The extent of `wanted`, extended in both directions up to conflicting locks of other nodes.
Extent ExtentLocks::widened(const Lock& wanted) const {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const auto bound = [&](const Lock& lock) {
    if (!are_incompatible(lock, wanted)) return;
    if (lock.extent.end() <= wanted.extent.offset) begin = std::max(begin, lock.extent.end());
    if (lock.extent.offset >= wanted.extent.end()) end = std::min(end, lock.extent.offset);
  };
  std::ranges::for_each(granted_, bound);
  std::ranges::for_each(waiting_, bound);
  return {begin, end - begin};
}

void ExtentLocks::grant(const Lock& wanted) {
  give_up(wanted);
  Lock lock = wanted;
  if (wide_ && !wanted.narrow) lock.extent = widened(wanted);
  std::erase_if(granted_, [&](const Lock& old) {
    const bool is_same_kind = old.node == lock.node && old.exclusive == lock.exclusive;
    const bool touches =
        old.extent.offset <= lock.extent.end() && lock.extent.offset <= old.extent.end();
    if (is_same_kind && touches) lock.extent = hull(lock.extent, old.extent);
    return (is_same_kind && touches) ||
           (old.node == lock.node && lock.exclusive && contains(lock.extent, old.extent));
  });
  granted_.push_back(lock);
}

void ExtentLocks::drop(std::int32_t node) {
  std::erase_if(granted_, [&](const Lock& lock) { return lock.node == node; });
}

}  // namespace nacre::sim
