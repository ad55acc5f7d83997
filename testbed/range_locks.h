// Advisory byte-range locks of a file (fcntl), among all nodes.
#ifndef NACRE_TESTBED_RANGE_LOCKS_H_
#define NACRE_TESTBED_RANGE_LOCKS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/extent.h"

namespace nacre::testbed {

/// A process of a node, as the kernel tells them apart.
struct LockOwner {
  int node = 0;
  std::uint64_t process = 0;

  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

struct RangeLock {
  LockOwner owner;
  Extent range;  ///< length INT64_MAX - offset: to the end of the file
  bool exclusive = false;
  std::int32_t pid = 0;  ///< as its node numbers processes
};

/// Thread-safe.
class RangeLocks {
 public:
  /// One that `wanted` would have to wait for.
  [[nodiscard]] std::optional<RangeLock> conflict(const RangeLock& wanted);
  /// Replaces what the owner has in the range. `waits`: until it is free, or `is_interrupted`.
  /// Whether it was taken.
  [[nodiscard]] bool take(const RangeLock& wanted, bool waits,
                          const std::function<bool()>& is_interrupted);
  /// What the owner has in the range.
  void release(const LockOwner& owner, const Extent& range);

 private:
  [[nodiscard]] const RangeLock* find_conflict(const RangeLock& wanted) const;
  void cut_out(const LockOwner& owner, const Extent& range);

  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<RangeLock> held_;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_RANGE_LOCKS_H_
