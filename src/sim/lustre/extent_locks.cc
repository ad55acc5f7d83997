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

bool ExtentLocks::covers(const Lock& wanted) const {
  return std::ranges::any_of(granted_, [&](const Lock& lock) {
    return lock.node == wanted.node && (lock.exclusive || !wanted.exclusive) &&
           contains(lock.extent, wanted.extent);
  });
}

bool ExtentLocks::is_next(std::uint64_t request) const {
  const auto itself = std::ranges::find(waiting_, request, &Request::number);
  return std::none_of(waiting_.begin(), itself, [&](const Request& other) {
    return are_in_conflict(other.lock, itself->lock);
  });
}

bool ExtentLocks::conflicts(const Lock& wanted) const {
  return !is_free(wanted) || std::ranges::any_of(waiting_, [&](const Request& other) {
    return are_in_conflict(other.lock, wanted);
  });
}

bool ExtentLocks::is_free(const Lock& wanted) const {
  const auto is_in_conflict = [&](const Lock& lock) { return are_in_conflict(lock, wanted); };
  return std::ranges::none_of(granted_, is_in_conflict) &&
         std::ranges::none_of(called_back_, [&](const Request& one) {
           const bool excludes = one.lock.exclusive || wanted.exclusive;
           return excludes && !intersection(one.lock.extent, wanted.extent).empty();
         });
}

std::vector<std::int32_t> ExtentLocks::call_back(std::uint64_t request, const Lock& wanted) {
  std::vector<std::int32_t> nodes;
  std::erase_if(granted_, [&](const Lock& lock) {
    if (!are_in_conflict(lock, wanted)) return false;
    called_back_.push_back({request, lock});
    if (std::ranges::find(nodes, lock.node) == nodes.end()) nodes.push_back(lock.node);
    return true;
  });
  return nodes;
}

void ExtentLocks::end_call_back(std::uint64_t request) {
  std::erase_if(called_back_, [&](const Request& one) { return one.number == request; });
}

void ExtentLocks::give_up(std::uint64_t request) {
  std::erase_if(waiting_, [&](const Request& one) { return one.number == request; });
}

/// The extent of `wanted`, extended in both directions up to locks that exclude it: of other nodes,
/// and called back ones of any node.
Extent ExtentLocks::widened(const Lock& wanted) const {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const auto bound = [&](const Extent& extent) {
    if (extent.end() <= wanted.extent.offset) begin = std::max(begin, extent.end());
    if (extent.offset >= wanted.extent.end()) end = std::min(end, extent.offset);
  };
  const auto bound_by_other = [&](const Lock& lock) {
    if (are_incompatible(lock, wanted)) bound(lock.extent);
  };
  std::ranges::for_each(granted_, bound_by_other);
  std::ranges::for_each(waiting_, bound_by_other, &Request::lock);
  for (const Request& one : called_back_) {
    if (one.lock.exclusive || wanted.exclusive) bound(one.lock.extent);
  }
  return {begin, end - begin};
}

void ExtentLocks::grant(const Lock& wanted) {
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
  std::erase_if(called_back_, [&](const Request& one) { return one.lock.node == node; });
}

}  // namespace nacre::sim
