// NodeLocks: per file and node: the kind of lock that accesses request, the holders of the group
// lock, and the file size that the node sees.
#ifndef NACRE_SIM_LUSTRE_NODE_LOCKS_H_
#define NACRE_SIM_LUSTRE_NODE_LOCKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/result.h"
#include "sim/time/timing.h"

namespace nacre::sim {

/// The lock that an access requests on the objects that it touches.
enum class LockWish : std::uint8_t {
  wide,    ///< extended as far as possible
  narrow,  ///< the extent of the access
  none,    ///< no lock: the node holds the file's group lock
};

/// While a file has a group lock, accesses of nodes that do not hold it wait. Lustre keeps this
/// state per open file. The model keeps it per node, because the testbed's xattrs that set it do
/// not identify an open file. Thread-safe.
class NodeLocks {
 public:
  explicit NodeLocks(Timing& timing = real_timing()) : changed_(timing.make_signal()) {}
  /// Acquires the group lock `number`. EINVAL: `number` is less than 1, or the node does not have
  /// the file open. EBUSY: a group lock with another number is held; this call never waits for it.
  /// (Lustre returns EAGAIN, which the kernel does not return from setxattr.)
  [[nodiscard]] Status acquire_group(std::int32_t node, std::int32_t number);
  /// EINVAL if the node does not hold group lock `number`.
  [[nodiscard]] Status release_group(std::int32_t node, std::int32_t number);
  /// The node requests narrow locks from now on, until it closes the file.
  void narrow(std::int32_t node);

  /// After a refused fallocate: a node that has the file open sees at least this size. 0: it sees
  /// the real size again.
  void believe_size(std::int32_t node, std::int64_t size);
  /// The size that the node sees if the real size is `size` bytes.
  [[nodiscard]] std::int64_t seen_size(std::int32_t node, std::int64_t size);

  // The layout that a node sees. A node that has looked for a layout in vain, and sets one that
  // another node has set meanwhile, sees none until it accesses the file or closes it.
  void note_no_layout(std::int32_t node);
  /// The node has set a layout. `is_first`: the file had none.
  void note_layout_set(std::int32_t node, bool is_first);
  [[nodiscard]] bool sees_layout(std::int32_t node);

  /// Waits until the file has no group lock or the node holds it. Returns the lock that an access
  /// of the node then requests. EINTR if interrupted.
  [[nodiscard]] Result<LockWish> pass(std::int32_t node,
                                      const std::function<bool()>& is_interrupted);

  // The last close of a node drops its group lock, its narrow locks and what it believes.
  void note_open(std::int32_t node);
  void note_close(std::int32_t node);

 private:
  void drop_holder(std::int32_t node);

  std::mutex mutex_;  // guards all members below
  std::unique_ptr<Signal> changed_;
  std::int32_t number_ = 0;                              // of the group lock; 0: not held
  std::map<std::int32_t, std::int64_t> holds_;           // acquisitions of the group lock, by node
  std::map<std::int32_t, std::int64_t> opens_;           // opens of the file, by node
  std::set<std::int32_t> narrow_;                        // nodes that request narrow locks
  std::map<std::int32_t, std::int64_t> believed_sizes_;  // by node
  std::set<std::int32_t> without_layout_;                // nodes that looked for one in vain
  std::set<std::int32_t> behind_;                        // nodes that see no layout
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_NODE_LOCKS_H_
