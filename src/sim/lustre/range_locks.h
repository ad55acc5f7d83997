// RangeLocks: the advisory locks of all nodes on one file, of fcntl(2) or of flock(2).
#ifndef NACRE_SIM_LUSTRE_RANGE_LOCKS_H_
#define NACRE_SIM_LUSTRE_RANGE_LOCKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "sim/time/timing.h"

namespace nacre::sim {

/// A lock owner of a node, a process or an open file, as the node's kernel identifies it.
struct LockOwner {
  int node = 0;
  std::uint64_t process = 0;

  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

struct RangeLock {
  LockOwner owner;
  Extent range;  ///< length INT64_MAX - offset: to the end of the file
  bool exclusive = false;
  std::int32_t pid = 0;  ///< process id on the owner's node
};

/// Thread-safe.
class RangeLocks {
 public:
  explicit RangeLocks(Timing& timing = real_timing()) : released_(timing.make_signal()) {}
  /// Returns a lock that conflicts with `wanted`, if there is one.
  [[nodiscard]] std::optional<RangeLock> conflict(const RangeLock& wanted);
  /// Acquires a lock, which replaces the owner's locks in the range. If `waits`, waits for
  /// conflicting locks until `is_interrupted` returns true. Returns whether the lock was acquired.
  [[nodiscard]] bool take(const RangeLock& wanted, bool waits,
                          const std::function<bool()>& is_interrupted);
  /// Releases the owner's locks in the range, and keeps their parts outside of it.
  void release(const LockOwner& owner, const Extent& range);

 private:
  [[nodiscard]] const RangeLock* find_conflict(const RangeLock& wanted) const;
  void remove_range(const LockOwner& owner, const Extent& range);

  std::mutex mutex_;
  std::unique_ptr<Signal> released_;
  std::vector<RangeLock> held_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_RANGE_LOCKS_H_
