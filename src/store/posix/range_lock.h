// Advisory byte-range locks of open file descriptions (OFD locks, fcntl(2)).
#ifndef NACRE_STORE_POSIX_RANGE_LOCK_H_
#define NACRE_STORE_POSIX_RANGE_LOCK_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/extent.h"
#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

struct LockTarget {
  int descriptor;
  const std::string& path;  ///< for messages
  /// Not empty if the lock must exclude processes on other nodes, but those of the file system hold
  /// on one node only (local_locks_cause_of()).
  std::string_view local_locks_cause = {};
};

/// Waits for the lock; returns at once if the range is empty. Release the lock before the
/// descriptor is closed, because another file may reuse the descriptor's number. Fails with
/// unsupported_operation and advice if the file system has no locks.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_range(const LockTarget& target,
                                                           const Extent& range, LockKind kind);

/// Fails as lock_range() would if the file system has no locks or only those of one node. Acquires
/// no lock and does not wait.
[[nodiscard]] Status check_locks(const LockTarget& target);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_RANGE_LOCK_H_
