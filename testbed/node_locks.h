// NodeLocks: what locks the nodes want for their accesses to a file, who holds its group lock, and
// the size that a node believes under its locks.
#ifndef NACRE_TESTBED_NODE_LOCKS_H_
#define NACRE_TESTBED_NODE_LOCKS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "base/result.h"

namespace nacre::testbed {

/// What an access asks for of the objects that it touches.
enum class LockWish : std::uint8_t {
  wide,    ///< as much as it can get
  narrow,  ///< what it touches
  none,    ///< its node has the file's group lock
};

/// Of a group lock, who holds another one, or none, waits. A Lustre knows all this by the open,
/// this one by the node: of what came through FUSE it cannot say more. Thread-safe.
class NodeLocks {
 public:
  /// The group lock. EINVAL: there are no such numbers, or the node has the file closed. EBUSY: one
  /// of another number is held, for which nobody waits here (a Lustre's EAGAIN: from setxattr the
  /// kernel does not let that through).
  [[nodiscard]] Status acquire_group(std::int32_t node, std::int32_t number);
  /// EINVAL where the node does not hold it.
  [[nodiscard]] Status release_group(std::int32_t node, std::int32_t number);
  /// From now on the node asks for narrow locks.
  void narrow(std::int32_t node);

  /// After a refused fallocate the node, which has the file open, sees at least this size, whatever
  /// the file has. 0: it sees the file's.
  void believe_size(std::int32_t node, std::int64_t size);
  /// The size that the node sees of a file of `size` bytes.
  [[nodiscard]] std::int64_t seen_size(std::int32_t node, std::int64_t size);

  /// Waits until nobody holds a group lock or the node itself does; what it then asks for. EINTR.
  [[nodiscard]] Result<LockWish> pass(std::int32_t node,
                                      const std::function<bool()>& is_interrupted);

  // With the last of the node's opens of the file goes what the node has.
  void note_open(std::int32_t node);
  void note_close(std::int32_t node);

 private:
  void drop_holder(std::int32_t node);

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::int32_t number_ = 0;                              // of the group lock; 0: nobody holds it
  std::map<std::int32_t, std::int64_t> holds_;           // by node: how many
  std::map<std::int32_t, std::int64_t> opens_;           // likewise
  std::set<std::int32_t> narrow_;                        // nodes
  std::map<std::int32_t, std::int64_t> believed_sizes_;  // by node
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_NODE_LOCKS_H_
