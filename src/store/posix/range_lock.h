// Advisory byte-range locks of open file descriptions (OFD locks, fcntl(2)).
#ifndef NACRE_STORE_POSIX_RANGE_LOCK_H_
#define NACRE_STORE_POSIX_RANGE_LOCK_H_

#include <memory>
#include <string>

#include "base/extent.h"
#include "base/result.h"
#include "store/file_system.h"
#include "store/store.h"

namespace nacre::store {

struct LockTarget {
  int descriptor;
  const std::string& path;  ///< for messages
  /// Not null where a process to be kept out may be on another node, and the locks of the file
  /// system do not reach there (file_system_with_local_locks()).
  const FileSystem* local_locks = nullptr;
};

/// Waits for the lock; an empty range is had at once. The lock must go before the descriptor is
/// closed (closing it would release the lock too, but its number may then be another file's). Where
/// the file system has no locks the error is unsupported_operation, names it and says what to do.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_range(const LockTarget& target,
                                                           const Extent& range, LockKind kind);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_RANGE_LOCK_H_
