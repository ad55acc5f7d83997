// StripedFile: the data of one file, striped over objects by its layout.
#ifndef NACRE_SIM_LUSTRE_STRIPED_FILE_H_
#define NACRE_SIM_LUSTRE_STRIPED_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "machine/machine.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "sim/lustre/cost_model.h"
#include "sim/lustre/layout_rules.h"
#include "sim/lustre/node_locks.h"
#include "sim/lustre/object_store.h"

namespace nacre::sim {

/// State that all files of a file system share.
struct Striping {
  explicit Striping(const Machine& machine, ObjectStore object_store = {},
                    Timing& timing_of_calls = real_timing())
      : defaults{static_cast<std::int32_t>(machine.osts),
                 static_cast<std::int32_t>(std::max<std::int64_t>(1, machine.stripe_count)),
                 machine.stripe_size},
        objects(std::move(object_store)),
        timing(timing_of_calls),
        costs(machine, objects, timing) {}

  StripingDefaults defaults;
  ObjectStore objects;
  Timing& timing;
  CostModel costs;
  std::mutex mutex;  ///< guards the allocator
  ObjectAllocator allocator{defaults.ost_count};

  /// Sets the fault of an OST, or evicts a node.
  [[nodiscard]] Status order(const FaultOrder& order);
};

/// Thread-safe. Errors carry the errno that Lustre returns, or an errno of the object store.
class StripedFile {
 public:
  static constexpr std::int32_t no_node = -1;

  /// Creates a file without a layout. `number` is its inode number. `striping` outlives the file.
  StripedFile(Striping& striping, std::uint64_t number)
      : striping_(striping), number_(number), locks_(striping.timing) {}
  /// Removes the objects.
  ~StripedFile();
  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;

  [[nodiscard]] bool has_layout();
  /// The value of the xattr lustre.lov. ENODATA without a layout. `node`: what that node sees.
  [[nodiscard]] Result<std::vector<std::byte>> layout(std::int32_t node = no_node);
  /// Sets the layout for which `asked` was requested. If the file has a layout, does nothing and
  /// returns success.
  [[nodiscard]] Status set_layout(plan::Layout asked, std::int32_t node = no_node);
  /// The xattrs lustre.lov.add and lustre.lov.del. ENODATA without a layout.
  [[nodiscard]] Status add_components(const plan::Layout& more);
  [[nodiscard]] Status delete_components(const plan::Layout& which);
  /// Moves the data to new objects with the layout for which `asked` was requested, as `lfs migrate
  /// --block` does: under a group lock, so accesses of other nodes wait. EBUSY if another group
  /// lock is held, EBADF without a layout, ENODATA if the new layout ends before the file does.
  [[nodiscard]] Status migrate(const Caller& caller, plan::Layout asked);

  [[nodiscard]] std::int64_t size() const;
  /// Returns the number of bytes that were read: fewer than requested at the end of the file, 0
  /// without a layout.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> to, std::int64_t offset);
  /// EBADF without a layout, ENODATA beyond the end of the layout. After an error of the object
  /// store, the bytes before the error are in the file.
  [[nodiscard]] Status write(std::span<const std::byte> from, std::int64_t offset);
  /// Writes at the end of the file, atomically with respect to other appends. Returns the offset.
  [[nodiscard]] Result<std::int64_t> append(std::span<const std::byte> from);
  /// Truncates or extends the file. If truncation of an object fails, the file size is unchanged.
  [[nodiscard]] Status resize(std::int64_t size);
  /// Flushes the objects to disk, if objects are on disk.
  [[nodiscard]] Status sync();

  /// The accesses to objects on OSTs that a read of `extent` makes.
  [[nodiscard]] std::vector<ObjectAccess> accesses_of(const Extent& extent);
  /// The accesses to objects on OSTs that a write of `extent` makes. Creates missing objects.
  /// Errors as write().
  [[nodiscard]] Result<std::vector<ObjectAccess>> accesses_to_write(const Extent& extent);
  /// The file's objects on OSTs.
  [[nodiscard]] std::vector<ObjectName> objects();

  // The group lock (NodeLocks) for the caller's node. acquire_group_lock() creates all
  // objects of the layout and revokes all other locks; EBADF without a layout. release_group_lock()
  // waits until the node's writes are on the OSTs.
  [[nodiscard]] Status acquire_group_lock(const Caller& caller, std::int32_t number);
  [[nodiscard]] Status release_group_lock(const Caller& caller, std::int32_t number);
  /// Locks of `node` ahead of writes of `ranges`, where objects exist. EBADF without a layout.
  [[nodiscard]] Status lock_ahead(std::int32_t node, std::span<const Extent> ranges);
  /// Waits for group locks of other nodes. Returns the lock that the caller's access requests.
  /// EINTR.
  [[nodiscard]] Result<LockWish> locks_for(const Caller& caller);
  [[nodiscard]] NodeLocks& locks() { return locks_; }

 private:
  /// A part of a read or write that lies in one stripe.
  struct Piece {
    ObjectName object;
    std::int64_t object_offset;
    std::size_t buffer_offset;  ///< offset in the buffer of the read or write
    std::size_t bytes;
  };
  [[nodiscard]] Status set_first_layout(plan::Layout asked);
  void replace_layout(plan::Layout layout);
  void drop(const ObjectName& object);
  [[nodiscard]] Status move_to_layout(plan::Layout asked);
  [[nodiscard]] Status make_objects(const Extent& extent);
  void append_object_parts(std::vector<ObjectAccess>& parts, const Extent& extent) const;
  [[nodiscard]] std::vector<ObjectName> all_objects() const;
  [[nodiscard]] Extent readable_part(const Extent& extent) const;
  [[nodiscard]] ObjectName object_of(std::size_t region, std::int32_t slot) const;
  [[nodiscard]] std::vector<Piece> pieces_of(std::int64_t offset, std::size_t bytes) const;
  [[nodiscard]] Result<std::vector<Piece>> pieces_to_write(const Extent& extent);
  [[nodiscard]] Status read_pieces(std::span<std::byte> to, const std::vector<Piece>& pieces);
  [[nodiscard]] store::Transfer write_pieces(std::span<const std::byte> from,
                                             const std::vector<Piece>& pieces);
  [[nodiscard]] Status truncate_objects(std::int64_t size);
  [[nodiscard]] Status finish_write(const store::Transfer& done, std::int64_t offset);

  Striping& striping_;
  std::uint64_t number_;
  NodeLocks locks_;
  mutable std::mutex mutex_;  // guards all members below
  std::optional<plan::Layout> layout_;
  std::optional<plan::StripeMap> map_;  // of layout_
  std::int64_t size_ = 0;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_STRIPED_FILE_H_
