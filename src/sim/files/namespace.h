// Namespace: the names, attributes and layouts of the files of a modelled Lustre, shared by all
// nodes.
#ifndef NACRE_SIM_FILES_NAMESPACE_H_
#define NACRE_SIM_FILES_NAMESPACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "sim/lustre/range_locks.h"
#include "sim/lustre/striped_file.h"

namespace nacre::sim {

using InodeNumber = std::uint64_t;
inline constexpr InodeNumber root_number = 1;

/// The owner and the mode of a new inode.
struct Maker {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;  ///< with the file type; the umask is already applied
};

/// A name in a directory.
struct Entry {
  std::string name;
  InodeNumber number = 0;
  mode_t mode = 0;
};

/// The attributes that setattr changes. Unset members stay unchanged.
struct AttributeChange {
  std::optional<mode_t> mode = {};
  std::optional<uid_t> uid = {};
  std::optional<gid_t> gid = {};
  std::optional<std::int64_t> size = {};
  std::optional<timespec> accessed = {};
  std::optional<timespec> modified = {};
};

/// Thread-safe. Inodes are identified by number. An inode exists as long as it has a name, is open,
/// or a node has looked it up and not forgotten it. Its data exist as long as it has a name or is
/// open. Errors carry an errno. The kernel has checked permissions before it calls.
class Namespace {
 public:
  explicit Namespace(const Machine& machine, ObjectStore objects = {},
                     Timing& timing = real_timing());
  ~Namespace();

  // Each call that returns the attributes of an inode counts as one lookup of it, for forget().
  [[nodiscard]] Result<struct stat> lookup(InodeNumber directory, const std::string& name);
  /// Creates a directory, a file without a layout or a special file.
  [[nodiscard]] Result<struct stat> make(InodeNumber directory, const std::string& name,
                                         const Maker& maker);
  [[nodiscard]] Result<struct stat> make_symlink(InodeNumber directory, const std::string& name,
                                                 const std::string& target, const Maker& maker);
  [[nodiscard]] Result<struct stat> link(InodeNumber number, InodeNumber directory,
                                         const std::string& name);
  /// Subtracts `lookups` from the lookups of an inode, and drops the inode if it is unused.
  void forget(InodeNumber number, std::uint64_t lookups);

  [[nodiscard]] Result<std::string> target_of(InodeNumber number);
  /// rmdir if `directories`, else unlink: ENOTDIR or EISDIR for an inode of the other kind.
  [[nodiscard]] Status remove(InodeNumber directory, const std::string& name, bool directories);
  struct Move {
    InodeNumber from_directory;
    std::string from;
    InodeNumber to_directory;
    std::string to;
    bool replaces = true;  ///< otherwise an existing target is EEXIST
  };
  [[nodiscard]] Status rename(const Move& move);
  [[nodiscard]] Result<std::vector<Entry>> list(InodeNumber directory);

  [[nodiscard]] Result<struct stat> attributes(InodeNumber number);
  [[nodiscard]] Result<struct stat> change(InodeNumber number, const AttributeChange& change);

  // Extended attributes, including lustre.lov. `node`: which sets a layout, or what it sees.
  [[nodiscard]] Status set_attribute(InodeNumber number, const std::string& name,
                                     std::span<const std::byte> value,
                                     std::int32_t node = StripedFile::no_node);
  [[nodiscard]] Result<std::vector<std::byte>> attribute(InodeNumber number,
                                                         const std::string& name,
                                                         std::int32_t node = StripedFile::no_node);
  [[nodiscard]] Result<std::vector<std::string>> attribute_names(InodeNumber number);
  [[nodiscard]] Status remove_attribute(InodeNumber number, const std::string& name);

  /// How a node opens a file.
  struct Opening {
    std::int32_t node = 0;
    bool writes = false;
  };
  /// ESTALE if the file has neither a name nor opens left: its data are deleted. Each open needs
  /// one close() with the same `opening`.
  [[nodiscard]] Status open(InodeNumber number, const Opening& opening);
  void close(InodeNumber number, const Opening& opening);
  /// Whether the node has the file open for writing. Lustre's client then does not inform the
  /// server of another open for writing.
  [[nodiscard]] bool is_written_on(InodeNumber number, std::int32_t node);
  /// The data of a regular file; the pointer keeps the inode alive. ENOENT, EISDIR for a directory,
  /// EINVAL for other inodes.
  [[nodiscard]] Result<std::shared_ptr<StripedFile>> data(InodeNumber number);
  /// Sets the layout of a file without a layout: one stripe if `one_stripe`, else the default
  /// layout of its directory or of the root.
  [[nodiscard]] Status give_layout(InodeNumber number, bool one_stripe);
  /// Updates the times of a file after a write.
  void mark_modified(InodeNumber number);
  [[nodiscard]] RangeLocks& locks(InodeNumber number);
  /// The locks of flock(2), which do not conflict with locks of fcntl(2).
  [[nodiscard]] RangeLocks& whole_file_locks(InodeNumber number);
  [[nodiscard]] const StripingDefaults& defaults() const { return striping_.defaults; }
  [[nodiscard]] CostModel& costs() { return striping_.costs; }
  /// Injects a fault into the OSTs and locks, or clears it.
  [[nodiscard]] Status order(const FaultOrder& order);
  [[nodiscard]] std::uint64_t file_count();

 private:
  struct Inode;
  using Pointer = std::shared_ptr<Inode>;
  [[nodiscard]] Pointer find(InodeNumber number) const;
  [[nodiscard]] Result<Pointer> find_directory(InodeNumber number) const;
  [[nodiscard]] Result<Pointer> find_in(InodeNumber directory, const std::string& name) const;
  [[nodiscard]] Result<Pointer> add(InodeNumber directory, const std::string& name,
                                    const Maker& maker);
  [[nodiscard]] Result<struct stat> count_lookup(Result<Pointer> found);
  [[nodiscard]] struct stat describe(const Inode& inode) const;
  void drop_name(const Pointer& inode);
  void drop_if_unused(const Pointer& inode);
  [[nodiscard]] plan::Layout default_for(const Inode& file) const;
  [[nodiscard]] Status set_layout(Inode& inode, std::span<const std::byte> blob, std::int32_t node);
  [[nodiscard]] bool is_below(InodeNumber directory, const Inode& ancestor) const;

  Striping striping_;
  mutable std::mutex mutex_;  // guards all members below
  std::map<InodeNumber, Pointer> inodes_;
  InodeNumber next_number_ = root_number;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_FILES_NAMESPACE_H_
