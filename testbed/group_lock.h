// GroupLock: Lustre's lock on a whole file that several nodes hold together.
#ifndef NACRE_TESTBED_GROUP_LOCK_H_
#define NACRE_TESTBED_GROUP_LOCK_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "base/result.h"

namespace nacre::testbed {

/// Held by number; who holds another one, or none, waits. A Lustre knows who holds it by the open,
/// this one by the node: of what came through FUSE it cannot say more. Thread-safe.
class GroupLock {
 public:
  /// EINVAL: there are no such numbers. EBUSY: one of another number is held, for which nobody
  /// waits here (a Lustre's EAGAIN: from setxattr the kernel does not let that through).
  [[nodiscard]] Status take(std::int32_t node, std::int32_t number);
  /// EINVAL where the node does not hold it.
  [[nodiscard]] Status give(std::int32_t node, std::int32_t number);

  /// Waits until nobody holds it or the node itself does, which it says. EINTR.
  [[nodiscard]] Result<bool> pass(std::int32_t node, const std::function<bool()>& is_interrupted);

  // The last of the node's opens of the file gives back what it holds.
  void note_open(std::int32_t node);
  void note_close(std::int32_t node);

 private:
  void drop_holder(std::int32_t node);

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::int32_t number_ = 0;                     // 0: nobody holds it
  std::map<std::int32_t, std::int64_t> holds_;  // by node: how many
  std::map<std::int32_t, std::int64_t> opens_;  // likewise
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_GROUP_LOCK_H_
