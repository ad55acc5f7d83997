// Store: files as bytes. The only way of the library to the operating system's files; everything
// above sees this interface and can be run over a memory or a faulty one.
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

/// When a new file gets its layout, where the open asks for none.
enum class LayoutTime : std::uint8_t {
  at_once,            ///< that of its directory
  later,              ///< where neither its directory nor the file system's root has a default
  later_below_roots,  ///< where its directory has no default of its own
};

/// What decides how files of a file system are accessed. Trivially copyable, so that one rank can
/// tell the others.
struct FileSystemFacts {
  std::uint32_t magic = 0;  ///< statfs's f_type; 0: unknown
  std::int32_t row = -1;    ///< among known_file_systems() (store/file_system.h); -1: none of them
  bool coherent = true;     ///< false: clients cache without agreeing (NFS, SMB)
  /// Writes of one node to one file go one after the other, whoever makes them (Linux holds the
  /// inode's lock for a write through the page cache), and who waits spins.
  bool one_writer_per_node = false;
  std::int64_t block_size_bytes = 4096;  ///< least unit that two writers should not share
  /// What may be read along for the price of one more call: over a network a round trip, locally a
  /// system call and the page cache's copy of this much.
  std::int64_t call_cost_bytes = 64 << 10;
  /// The least size of write at which one process gets all the bandwidth it can.
  std::int64_t saturation_bytes = 32 << 20;
  bool has_layouts = false;  ///< StoreFile::layouts() is not null
  bool has_direct = false;   ///< direct reads or writes were asked for and can be had
};

/// What open needs to know. Exactly one rank opens with `create` or `exclusive`; the others open
/// what is there. One of `read` and `write` at least (else ErrorClass::amode).
struct OpenOptions {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;       ///< with create: fail with file_exists when it is there
  unsigned permissions = 0666;  ///< before the umask
  /// With create: the layout of a new file. Ignored where the file exists or its file system has no
  /// layouts. The file system may give the file another one: read it back.
  std::optional<plan::Layout> layout = {};
  /// With create; at_once where the owner may not write the file.
  LayoutTime layout_time = LayoutTime::at_once;
  /// Without create: a file that has no layout gets none by being opened.
  bool leaves_layout_open = false;
  /// Past the page cache (O_DIRECT), where the file system, offset, size and memory allow it.
  bool direct_reads = false;
  bool direct_writes = false;
  bool one_node = false;  ///< all that locks are to keep out are on this node
  /// Of the file's file system, where they are known: this process need not ask for them.
  std::optional<FileSystemFacts> facts = {};
};

/// What was really done: bytes moved from the start of the request, and why it stopped short, if it
/// was an error (a read that meets the end of the file is short without one).
struct Transfer {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};

/// Scatter/gather pieces; the file side is contiguous.
struct ReadPiece {
  std::byte* data = nullptr;
  std::int64_t size = 0;
};
struct WritePiece {
  const std::byte* data = nullptr;
  std::int64_t size = 0;
};

enum class LockKind : std::uint8_t { shared, exclusive };

/// Releases what it holds when it goes, which is before its StoreFile closes.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// Who a file is, to tell whether a later open found the same one.
struct FileIdentity {
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The layout of an open file, on a file system where each file has its own and may get it after
/// the file was created. Layouts that the file system refuses, and those that it has and Nacre
/// cannot decode, are errors.
class FileLayouts {
 public:
  virtual ~FileLayouts() = default;

  /// None where the file has none yet. Refreshes what this process knows of it.
  [[nodiscard]] virtual Result<std::optional<plan::Layout>> read() = 0;
  /// Does nothing where the file has a layout.
  [[nodiscard]] virtual Status set(const plan::Layout& layout) = 0;
  /// As set(), with what a new file of its directory gets: the default that somebody has set, or
  /// else the file system's own.
  [[nodiscard]] virtual Status set_default() = 0;
  /// Appends components. An error where they do not begin at the end of the layout.
  [[nodiscard]] virtual Status add(const plan::Layout& components) = 0;
  /// Removes the components at the end to which nothing was ever written. An error where there are
  /// none.
  [[nodiscard]] virtual Status remove_unwritten() = 0;
  /// How many storage targets the file system has.
  [[nodiscard]] virtual Result<std::int32_t> target_count() = 0;

  /// Whether a write failed with `error` because the file has no layout for these bytes.
  [[nodiscard]] virtual bool means_no_layout(const Error& error) const = 0;
  /// Whether a change failed with `error` because only the file's owner may change the layout.
  [[nodiscard]] virtual bool means_not_owner(const Error& error) const = 0;
};

/// One open file of one process. All calls may be made from several threads at once. Offsets and
/// sizes are bytes; a single call may move more than 2 GiB. EINTR and short transfers are dealt
/// with inside. All calls are pure virtual, so that ForwardingFile cannot miss one; lock_group,
/// narrow_locks and layouts have a body for file systems that lack the feature.
class StoreFile {
 public:
  virtual ~StoreFile() = default;

  [[nodiscard]] virtual Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) = 0;
  [[nodiscard]] virtual Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) = 0;
  [[nodiscard]] virtual Result<std::int64_t> size() = 0;
  /// Truncates or extends (sparse).
  [[nodiscard]] virtual Status resize(std::int64_t size) = 0;
  /// Makes storage for [0, size) real, as far as the file system can; the file is then at least
  /// `size` long. Never shrinks and never changes bytes that are there. Nobody writes past the end
  /// meanwhile.
  [[nodiscard]] virtual Status allocate(std::int64_t size) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  /// Gives the file back and says what the system tells only then: NFS, Lustre and quotas may
  /// report a write's error here. The last call; the destructor closes too, but in silence.
  [[nodiscard]] virtual Status close() = 0;
  /// Waits for the advisory byte-range lock; it holds against other processes and other opens of
  /// this one, not against other users of this StoreFile (callers serialise those). Exclusive needs
  /// the file open for writing. unsupported_operation where the file system has no locks.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const Extent& range,
                                                               LockKind kind) = 0;
  /// A lock of Lustre's on all of the file: opens that hold one of the same `number` (at least 1)
  /// write and read beside each other without any other lock, and so each keeps to pages of its
  /// own; all others wait. Waits for who holds one of another number some seconds at most: an error
  /// then, as where the file system has none. Other threads leave this file alone while it is
  /// taken.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) = 0;
  /// From now on what this open writes is locked as far as it goes, and not as far as nobody else
  /// stands in the way. An error where the file system cannot do that.
  [[nodiscard]] virtual Status narrow_locks() = 0;
  [[nodiscard]] virtual FileIdentity identity() = 0;
  [[nodiscard]] virtual FileSystemFacts facts() = 0;
  /// Null where the file system has no such thing.
  [[nodiscard]] virtual FileLayouts* layouts() = 0;
};

inline Result<std::unique_ptr<FileLock>> StoreFile::lock_group(std::int32_t /*number*/) {
  return Error{ErrorClass::unsupported_operation, 0, "the file system has no group locks"};
}

inline Status StoreFile::narrow_locks() {
  return Error{ErrorClass::unsupported_operation, 0, "the file system has no narrow locks"};
}

inline FileLayouts* StoreFile::layouts() { return nullptr; }

/// A 64-bit counter that all ranks of a file see: the shared file pointer. Calls are atomic,
/// between threads too. Callers keep the sum from overflowing.
class SharedCounter {
 public:
  virtual ~SharedCounter() = default;
  /// Adds and returns the value before.
  [[nodiscard]] virtual Result<std::int64_t> fetch_add(std::int64_t amount) = 0;
  [[nodiscard]] virtual Status set(std::int64_t value) = 0;
  [[nodiscard]] virtual Result<std::int64_t> get() = 0;
};

/// How the ranks of a file find one shared counter.
struct CounterKey {
  std::string file_path;
  std::uint64_t id = 0;   ///< the same on all ranks of the open, unlike that of any other open
  bool one_node = false;  ///< all ranks share memory: no file is needed
};

/// Where files live. Thread-safe. All calls are pure virtual, so that ForwardingStore cannot miss
/// one; target_count has a body for file systems without storage targets.
class Store {
 public:
  virtual ~Store() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                                                const OpenOptions& options) = 0;
  /// no_such_file where there is none. Those who have the file open go on using it.
  [[nodiscard]] virtual Status remove(const std::string& path) = 0;
  /// Makes the counter (value 0) when `create`, else attaches to it: no_such_file before it is made
  /// and after it is forgotten. A counter may outlive its Store.
  [[nodiscard]] virtual Result<std::unique_ptr<SharedCounter>> counter(const CounterKey& key,
                                                                       bool create) = 0;
  /// How many storage targets the file system has on which a file of this name would lie; an error
  /// where it has none, or does not say.
  [[nodiscard]] virtual Result<std::int32_t> target_count(const std::string& path) = 0;
  /// Takes the counter's name away; those attached go on. Called once, by the rank that created it.
  virtual void forget_counter(const CounterKey& key) = 0;
};

inline Result<std::int32_t> Store::target_count(const std::string& path) {
  return Error{ErrorClass::unsupported_operation, 0,
               path + ": the file system has no storage targets"};
}

}  // namespace nacre::store

#endif  // NACRE_STORE_STORE_H_
