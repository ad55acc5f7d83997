// Store: the interface through which all other code accesses files. Tests replace it by a store in
// memory or by one that injects faults.
#ifndef NACRE_STORE_STORE_H_
#define NACRE_STORE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/extent.h"
#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::store {

/// When a new file gets its layout if the open requests none.
enum class LayoutTime : std::uint8_t {
  at_once,            ///< at the open: the default layout of its directory
  later,              ///< later, if neither its directory nor the root has a default layout
  later_below_roots,  ///< later, if its directory has no default layout of its own
};

/// The properties of a file system that decide how Nacre accesses its files. Trivially copyable, so
/// that one rank can broadcast them.
struct FileSystemFacts {
  std::uint32_t magic = 0;  ///< statfs's f_type; 0: unknown
  std::int32_t row = -1;    ///< index in known_file_systems() (store/file_system.h); -1: unknown
  bool coherent = true;     ///< false: client caches are not coherent (NFS, SMB)
  /// The kernel serialises the writes of one node to one file, because a write through the page
  /// cache holds the inode's lock. Waiting writers spin.
  bool one_writer_per_node = false;
  /// As above, on a file system with servers: a second thread of a process gains nothing by a
  /// write. Not with O_DIRECT.
  bool serial_writes = false;
  std::int64_t block_size_bytes = 4096;  ///< two writers should not share a block
  /// Bytes whose transfer costs as much as one more call: a round trip over a network, or a system
  /// call on a local file system.
  std::int64_t call_cost_bytes = 64 << 10;
  /// Size of the smallest write that reaches the full bandwidth of one process.
  std::int64_t saturation_bytes = 32 << 20;
  bool has_layouts = false;  ///< StoreFile::layouts() is not null
  /// A node reads what it has written from its cache until another node accesses it.
  bool keeps_written = false;
  bool has_direct = false;  ///< O_DIRECT was requested and is possible
  bool on_flash = false;    ///< Store::has_flash_targets(), if it was asked
};

/// Arguments of an open. Exactly one rank sets `create` or `exclusive`. At least one of `read` and
/// `write` must be set, otherwise the open fails with ErrorClass::amode.
struct OpenOptions {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;       ///< with create: file_exists if the file exists
  unsigned permissions = 0666;  ///< before the umask
  /// With create: the layout of a new file. Ignored if the file exists or its file system has no
  /// layouts. The file system may set a different layout; read it back.
  std::optional<plan::Layout> layout = {};
  /// With create. at_once if the owner has no permission to write the file.
  LayoutTime layout_time = LayoutTime::at_once;
  /// Without create: opening a file without a layout does not set one.
  bool leaves_layout_open = false;
  /// Bypass the page cache (O_DIRECT) if the file system, offset, size and memory allow it.
  bool direct_reads = false;
  bool direct_writes = false;
  bool one_node = false;  ///< all processes that access the file run on this node
  /// The facts of the file's file system, if the caller knows them. Saves a statfs.
  std::optional<FileSystemFacts> facts = {};
};

/// The result of a read or write: bytes moved from the start of the request, and the error that
/// ended it early. A read that reaches the end of the file is short without an error.
struct Transfer {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};

/// Pieces of memory for scatter/gather. The range in the file is contiguous.
struct ReadPiece {
  std::byte* data = nullptr;
  std::int64_t size = 0;
};
struct WritePiece {
  const std::byte* data = nullptr;
  std::int64_t size = 0;
};

enum class LockKind : std::uint8_t { shared, exclusive };

/// Holds a lock until its destructor, which must run before the StoreFile closes.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// Identifies a file, to detect that a later open found a different file of the same name.
struct FileIdentity {
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The layout of an open file, on a file system where each file has its own layout, perhaps set
/// after the file was created. Calls fail if the file system refuses a layout, or if Nacre cannot
/// decode it.
class FileLayouts {
 public:
  virtual ~FileLayouts() = default;

  /// The current layout; none if the file has none yet.
  [[nodiscard]] virtual Result<std::optional<plan::Layout>> read() = 0;
  /// Sets the layout. Does nothing if the file already has one.
  [[nodiscard]] virtual Status set(const plan::Layout& layout) = 0;
  /// As set(), with the default layout of the file's directory, or else of the file system.
  [[nodiscard]] virtual Status set_default() = 0;
  /// The default layout of the file's directory, or else of the root of the file system, or else
  /// the default that clients show; none if there is none, or if Nacre cannot decode it.
  [[nodiscard]] virtual std::optional<plan::Layout> default_layout() = 0;
  /// Appends components. Fails if they do not begin at the end of the layout.
  [[nodiscard]] virtual Status add(const plan::Layout& components) = 0;
  /// Removes the unwritten components at the end of the layout. Fails if there are none.
  [[nodiscard]] virtual Status remove_unwritten() = 0;
  /// The number of storage targets (OSTs) of the file system.
  [[nodiscard]] virtual Result<std::int32_t> target_count() = 0;

  /// Whether a write failed with `error` because the file has no layout for these bytes.
  [[nodiscard]] virtual bool means_no_layout(const Error& error) const = 0;
  /// Whether a change failed with `error` because only the file's owner may change the layout.
  [[nodiscard]] virtual bool means_not_owner(const Error& error) const = 0;
};

/// One open file of one process. Thread-safe. Offsets and sizes are in bytes; a single call may
/// move more than 2 GiB. Implementations retry after EINTR and after short transfers. All calls are
/// pure virtual, so that ForwardingFile cannot miss one; lock_group, narrow_locks, lock_ahead and
/// layouts have a body for file systems that lack the feature.
class StoreFile {
 public:
  virtual ~StoreFile() = default;

  [[nodiscard]] virtual Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) = 0;
  [[nodiscard]] virtual Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) = 0;
  [[nodiscard]] virtual Result<std::int64_t> size() = 0;
  /// Truncates or extends the file; an extension is sparse.
  [[nodiscard]] virtual Status resize(std::int64_t size) = 0;
  /// Allocates storage for [0, size), if the file system can. The file is then at least `size`
  /// bytes long; existing bytes stay as they are. No other process may write behind the end
  /// meanwhile.
  [[nodiscard]] virtual Status allocate(std::int64_t size) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  /// Closes the file. NFS, Lustre and quotas may report the error of an earlier write here. No call
  /// may follow. The destructor closes the file too, but discards errors.
  [[nodiscard]] virtual Status close() = 0;
  /// Waits for an advisory byte-range lock. The lock excludes other processes and other opens of
  /// this process. It does not exclude other users of this StoreFile: callers serialise those. An
  /// exclusive lock needs a file that is open for writing. unsupported_operation if the file system
  /// has no locks.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const Extent& range,
                                                               LockKind kind) = 0;
  /// Fails as lock() would if the file system has no locks, or none that exclude the other
  /// processes of this open. Acquires no lock and does not wait.
  [[nodiscard]] virtual Status check_locks() = 0;
  /// Acquires Lustre's group lock on the whole file. Opens that hold a group lock with the same
  /// `number` (at least 1) read and write concurrently without further locks, so each must access
  /// pages of its own; all other accesses wait. Fails after some seconds if another number is held,
  /// or if the file system has no group locks. Other threads must not use this file meanwhile.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) = 0;
  /// From now on each write of this open locks only its own bytes, instead of as many bytes as the
  /// lock server would grant. Fails if the file system has no narrow locks.
  [[nodiscard]] virtual Status narrow_locks() = 0;
  /// Requests the locks with which these ranges, in ascending order, will be written, and does not
  /// wait for them. Where another client has a lock, it gets none: the write then requests it.
  /// Fails if the file system has no such request.
  [[nodiscard]] virtual Status lock_ahead(std::span<const Extent> ranges) = 0;
  [[nodiscard]] virtual FileIdentity identity() = 0;
  [[nodiscard]] virtual FileSystemFacts facts() = 0;
  /// Null if the file system has no layouts.
  [[nodiscard]] virtual FileLayouts* layouts() = 0;
};

inline Result<std::unique_ptr<FileLock>> StoreFile::lock_group(std::int32_t /*number*/) {
  return Error{ErrorClass::unsupported_operation, 0, "the file system has no group locks"};
}

inline Status StoreFile::narrow_locks() {
  return Error{ErrorClass::unsupported_operation, 0, "the file system has no narrow locks"};
}

inline Status StoreFile::lock_ahead(std::span<const Extent> /*ranges*/) {
  return Error{ErrorClass::unsupported_operation, 0,
               "the file system has no locks ahead of writes"};
}

inline FileLayouts* StoreFile::layouts() { return nullptr; }

/// A 64-bit counter that all ranks of a file share: the shared file pointer. Calls are atomic
/// between processes and threads. Callers prevent overflow of the sum.
class SharedCounter {
 public:
  virtual ~SharedCounter() = default;
  /// Adds `amount` and returns the value before the addition.
  [[nodiscard]] virtual Result<std::int64_t> fetch_add(std::int64_t amount) = 0;
  [[nodiscard]] virtual Status set(std::int64_t value) = 0;
  [[nodiscard]] virtual Result<std::int64_t> get() = 0;
};

/// Names the shared counter of an open file.
struct CounterKey {
  std::string file_path;
  std::uint64_t id = 0;   ///< the same on all ranks of one open, different for every open
  bool one_node = false;  ///< all ranks share memory, so the counter needs no file
};

/// Opens and removes files. Thread-safe. All calls are pure virtual, so that ForwardingStore cannot
/// miss one; target_count, has_flash_targets and check_layout have a body for file systems without
/// storage targets.
class Store {
 public:
  virtual ~Store() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                                                const OpenOptions& options) = 0;
  /// no_such_file if the file does not exist. Open files stay usable.
  [[nodiscard]] virtual Status remove(const std::string& path) = 0;
  /// Creates the counter with value 0 if `create` is set, otherwise attaches to it; no_such_file if
  /// it does not exist. A counter may outlive its Store.
  [[nodiscard]] virtual Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key,
                                                                       bool create) = 0;
  /// The number of storage targets of the file system that would hold a file of this name. Fails if
  /// the file system has none or does not report it.
  [[nodiscard]] virtual Result<std::int32_t> target_count(const std::string& path) = 0;
  /// Whether the storage targets of the file system that would hold a file of this name say that
  /// they are flash drives. Asks servers at most once per file system and process.
  [[nodiscard]] virtual bool has_flash_targets(const std::string& path) = 0;
  /// Whether OpenOptions may request this layout for a new file of this name. Asks no server: the
  /// open may still fail.
  [[nodiscard]] virtual Status check_layout(const std::string& path,
                                            const plan::Layout& layout) = 0;
  /// Removes the counter's name; attached counters stay usable. Called once, by any rank.
  virtual void forget_counter(const CounterKey& key) = 0;
};

inline Result<std::int32_t> Store::target_count(const std::string& path) {
  return Error{ErrorClass::unsupported_operation, 0,
               path + ": the file system has no storage targets"};
}

inline bool Store::has_flash_targets(const std::string& /*path*/) { return false; }

inline Status Store::check_layout(const std::string& /*path*/, const plan::Layout& /*layout*/) {
  return {};
}

}  // namespace nacre::store

#endif  // NACRE_STORE_STORE_H_
