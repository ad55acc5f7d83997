// StripedFile: the data of one file, by its layout.
#ifndef NACRE_TESTBED_STRIPED_FILE_H_
#define NACRE_TESTBED_STRIPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "testbed/cost_model.h"
#include "testbed/layout_rules.h"
#include "testbed/machine.h"
#include "testbed/node_locks.h"
#include "testbed/object_store.h"

namespace nacre::testbed {

/// What all files of a file system share.
struct Striping {
  explicit Striping(const Machine& machine, ObjectStore object_store = {})
      : defaults(machine.striping()), objects(std::move(object_store)), costs(machine, objects) {}

  StripingDefaults defaults;
  ObjectStore objects;
  CostModel costs;
  std::mutex mutex;  ///< of the allocator
  ObjectAllocator allocator{defaults.ost_count};
};

/// Thread-safe. Errors carry the errno that Lustre gives, or that of the objects' store.
class StripedFile {
 public:
  /// Without a layout. `number` is the file's; `striping` outlives it.
  StripedFile(Striping& striping, std::uint64_t number) : striping_(striping), number_(number) {}
  ~StripedFile();
  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;

  [[nodiscard]] bool has_layout();
  /// ENODATA where there is none.
  [[nodiscard]] Result<std::vector<std::byte>> layout();
  /// Nothing where there is one already: setting a layout twice is no error.
  [[nodiscard]] Status set_layout(plan::Layout asked);
  /// lustre.lov.add and .del.
  [[nodiscard]] Status add_components(const plan::Layout& more);
  [[nodiscard]] Status delete_components(const plan::Layout& which);

  [[nodiscard]] std::int64_t size() const;
  /// How many bytes were read: fewer at the end of the file, none of one without a layout.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> to, std::int64_t offset);
  /// EBADF where there is no layout, ENODATA where it does not reach so far. What was written
  /// before an error of a store is in the file.
  [[nodiscard]] Status write(std::span<const std::byte> from, std::int64_t offset);
  /// The same at the end of the file, wherever that is when it is its turn; where it was.
  [[nodiscard]] Result<std::int64_t> append(std::span<const std::byte> from);
  /// The size stays where an object cannot be cut.
  [[nodiscard]] Status resize(std::int64_t size);
  /// What was written is on the disk then, if objects are on any.
  [[nodiscard]] Status sync();

  /// Which bytes of which objects on OSTs such a read touches.
  [[nodiscard]] std::vector<ObjectAccess> accesses_of(const Extent& extent);
  /// The same of a write; errors are the write's own.
  [[nodiscard]] Result<std::vector<ObjectAccess>> accesses_to_write(const Extent& extent);
  /// Those that it has on OSTs.
  [[nodiscard]] std::vector<ObjectName> objects();

  // NodeLocks' group lock, for the caller's node. Taking it makes all objects that the layout has
  // room for, and takes all other locks away; giving it back waits until what the node wrote is on
  // the OSTs.
  [[nodiscard]] Status acquire_group_lock(const Caller& caller, std::int32_t number);
  [[nodiscard]] Status release_group_lock(const Caller& caller, std::int32_t number);
  /// What the caller's access asks for, once no group lock keeps it out. EINTR.
  [[nodiscard]] Result<LockWish> locks_for(const Caller& caller);
  [[nodiscard]] NodeLocks& locks() { return locks_; }

 private:
  /// What is to be done with one piece of a stripe.
  struct Piece {
    ObjectName object;
    std::int64_t object_offset;
    std::size_t done;  ///< before it, of what is moved
    std::size_t bytes;
  };
  void take_layout(plan::Layout layout);
  void drop(const ObjectName& object);
  [[nodiscard]] Status make_objects(const Extent& extent);
  [[nodiscard]] std::vector<ObjectName> all_objects() const;
  [[nodiscard]] Extent there(const Extent& extent) const;
  [[nodiscard]] ObjectName object_of(std::size_t region, std::int32_t slot) const;
  [[nodiscard]] std::vector<Piece> pieces_of(std::int64_t offset, std::size_t bytes) const;
  [[nodiscard]] Result<std::vector<Piece>> pieces_to_write(const Extent& extent);
  [[nodiscard]] store::Transfer write_pieces(std::span<const std::byte> from,
                                             const std::vector<Piece>& pieces);
  [[nodiscard]] Status cut_objects(std::int64_t size);
  [[nodiscard]] Status take_written(const store::Transfer& done, std::int64_t offset);

  Striping& striping_;
  std::uint64_t number_;
  NodeLocks locks_;
  mutable std::mutex mutex_;  // of what follows
  std::optional<plan::Layout> layout_;
  std::optional<plan::StripeMap> map_;  // of layout_
  std::int64_t size_ = 0;
};

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_STRIPED_FILE_H_
