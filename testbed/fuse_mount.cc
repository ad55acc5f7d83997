#include "testbed/fuse_mount.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "base/checked_cast.h"
#include "base/parse_number.h"
#include "machine/machine_file.h"
#include "sim/files/node_file.h"
#include "sim/lustre/errno_result.h"
#include "store/system/errno.h"

namespace nacre::testbed {
namespace {

constexpr std::string_view node_attribute = "testbed.node";
constexpr std::string_view machine_attribute = "testbed.machine";
/// The counters as JSON. Setting it to any value resets them.
constexpr std::string_view counters_attribute = "testbed.counters";
/// Set it to a fault, in the syntax of parse_fault() (sim/lustre/faults.h).
constexpr std::string_view fault_attribute = "testbed.fault";
/// Set them on any directory to "INODE NUMBER": acquires or releases group lock NUMBER of the file
/// with inode number INODE.
constexpr std::string_view acquire_group_attribute = "testbed.group_lock";
constexpr std::string_view release_group_attribute = "testbed.group_unlock";
/// Set it in the same way, with any NUMBER: the node requests narrow locks on the file from now on.
constexpr std::string_view narrow_locks_attribute = "testbed.narrow_locks";
/// Set it to "INODE OFFSET LENGTH OFFSET LENGTH ...": the node requests locks on these ranges.
constexpr std::string_view lock_ahead_attribute = "testbed.lock_ahead";
/// Reading it takes `delay_length` of the model's time.
constexpr std::string_view delay_attribute = "testbed.delay";
constexpr SimulatedTime delay_length = 1'000'000;
/// Flag of open(2): the file gets no layout yet. Lustre's O_LOV_DELAY_CREATE also contains
/// O_NOCTTY, which FUSE drops.
constexpr int delay_layout = FASYNC;
/// Each call that waits, for a lock or a hung OST, keeps one; others must get through meanwhile.
constexpr unsigned server_threads_max = 4096;
constexpr Extent whole_file{0, std::numeric_limits<std::int64_t>::max()};
constexpr unsigned get_ost_count = _IOR('f', 168, long);  // LL_IOC_GETOBDCOUNT

FuseMount& mount_of(fuse_req_t request) {
  return *static_cast<FuseMount*>(fuse_req_userdata(request));
}
Namespace& names_of(fuse_req_t request) { return mount_of(request).names(); }

void reply(fuse_req_t request, const Status& status) { fuse_reply_err(request, errno_of(status)); }
void reply(fuse_req_t request, const Error& error) { fuse_reply_err(request, error.system_errno); }

constexpr unsigned caller_shift = 40;  // more inodes than anybody creates; threads have 22 bits
constexpr InodeNumber inode_mask = (InodeNumber{1} << caller_shift) - 1;

/// The kernel's number of a file, its node ID: another one for each thread that looks a file up, so
/// that the kernel has one inode for each. While a call writes, the kernel locks the inode, and the
/// node's other processes would wait, with a spinning lock; Lustre lets processes of a client write
/// different ranges of a file at the same time (since 2.10, LU-1669).
fuse_ino_t node_id_of(fuse_req_t request, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return about.st_ino;
  return about.st_ino | InodeNumber{checked_cast<std::uint32_t>(fuse_req_ctx(request)->pid)}
                            << caller_shift;
}

InodeNumber inode_of(fuse_ino_t node_id) { return node_id & inode_mask; }

fuse_entry_param entry_of(fuse_req_t request, const struct stat& about) {
  fuse_entry_param entry{};
  entry.ino = node_id_of(request, about);
  entry.attr = about;
  return entry;
}

/// `about` with the size that this mount's node sees.
struct stat seen_by_node(fuse_req_t request, struct stat about) {
  const Result<std::shared_ptr<StripedFile>> data = names_of(request).data(about.st_ino);
  if (data) about.st_size = (*data)->locks().seen_size(mount_of(request).node(), about.st_size);
  return about;
}

void reply_entry(fuse_req_t request, const Result<struct stat>& found) {
  if (!found) return reply(request, found.error());
  const fuse_entry_param entry = entry_of(request, seen_by_node(request, *found));
  fuse_reply_entry(request, &entry);
}

void reply_attributes(fuse_req_t request, const Result<struct stat>& found) {
  if (!found) return reply(request, found.error());
  const struct stat about = seen_by_node(request, *found);
  fuse_reply_attr(request, &about, 0);
}

Maker maker_of(fuse_req_t request, mode_t mode) {
  const fuse_ctx* const context = fuse_req_ctx(request);
  return {context->uid, context->gid, mode & ~context->umask};
}

/// An open file of the kernel.
class Handle {
 public:
  explicit Handle(std::unique_ptr<NodeFile> file) : file_(std::move(file)) {}
  [[nodiscard]] NodeFile& file() { return *file_; }
  /// Notes who requested byte-range locks. The kernel does not inform FUSE when an open file
  /// description is closed that holds locks (F_OFD_SETLK).
  void note_lock_owner(std::uint64_t owner) {
    const std::lock_guard guard(mutex_);
    lock_owners_.insert(owner);
  }
  void forget_lock_owner(std::uint64_t owner) {
    const std::lock_guard guard(mutex_);
    lock_owners_.erase(owner);
  }
  /// Of locks that no flush has released.
  [[nodiscard]] const std::set<std::uint64_t>& lock_owners() const { return lock_owners_; }

 private:
  std::unique_ptr<NodeFile> file_;
  std::mutex mutex_;
  std::set<std::uint64_t> lock_owners_;
};

/// Opens a file with direct_io: the kernel does not cache its data.
Status begin_open(fuse_req_t request, InodeNumber number, fuse_file_info& file) {
  const FuseMount& mount = mount_of(request);
  const bool writes = (file.flags & O_ACCMODE) != O_RDONLY;
  const bool direct = (file.flags & O_DIRECT) != 0;
  Result<std::unique_ptr<NodeFile>> opened =
      NodeFile::open(mount.names(), {number, mount.node(), writes, direct});
  if (!opened) return std::move(opened).error();
  file.direct_io = 1;
  auto handle = std::make_unique<Handle>(std::move(*opened));
  file.fh = reinterpret_cast<std::uint64_t>(handle.release());  // NOLINT: the kernel stores it
  return {};
}

Handle* handle_in(const fuse_file_info& file) {
  return reinterpret_cast<Handle*>(file.fh);  // NOLINT: from begin_open
}

NodeFile* opened_in(const fuse_file_info& file) { return &handle_in(file)->file(); }

/// Whether the caller received a signal, or the testbed stops.
bool is_interrupted(fuse_req_t request) {
  return fuse_req_interrupted(request) != 0 || names_of(request).costs().is_stopped();
}

IsInterrupted interruption_of(fuse_req_t request) {
  return [request] { return is_interrupted(request); };
}

/// NodeLocks::believe_size() for this mount's node.
void believe_size(fuse_req_t request, InodeNumber number, std::int64_t size) {
  const Result<std::shared_ptr<StripedFile>> data = names_of(request).data(number);
  if (data) (*data)->locks().believe_size(mount_of(request).node(), size);
}

// ---- names ----

void init(void* /*mount*/, fuse_conn_info* connection) {
  connection->want |=
      connection->capable & (FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_DONT_MASK);
  // Without atomic O_TRUNC the kernel truncates by setattr before it opens.
  connection->want &= ~(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ | FUSE_CAP_ATOMIC_O_TRUNC);
  connection->max_write = checked_cast<unsigned>(kernel_request_bytes_max);
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  reply_entry(request, names_of(request).lookup(parent, name));
}

void forget(fuse_req_t request, fuse_ino_t node_id, std::uint64_t lookups) {
  names_of(request).forget(inode_of(node_id), lookups);
  fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* forgotten) {
  for (const fuse_forget_data& one : std::span(forgotten, count)) {
    names_of(request).forget(inode_of(one.ino), one.nlookup);
  }
  fuse_reply_none(request);
}

void getattr(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* /*file*/) {
  reply_attributes(request, names_of(request).attributes(inode_of(node_id)));
}

Result<struct stat> changed(fuse_req_t request, InodeNumber number, const AttributeChange& change) {
  if (change.size) believe_size(request, number, 0);
  return names_of(request).change(number, change);
}

void setattr(fuse_req_t request, fuse_ino_t node_id, struct stat* wanted, int which,
             fuse_file_info* /*file*/) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  AttributeChange change;
  if ((which & FUSE_SET_ATTR_MODE) != 0) change.mode = wanted->st_mode;
  if ((which & FUSE_SET_ATTR_UID) != 0) change.uid = wanted->st_uid;
  if ((which & FUSE_SET_ATTR_GID) != 0) change.gid = wanted->st_gid;
  if ((which & FUSE_SET_ATTR_SIZE) != 0) change.size = wanted->st_size;
  if ((which & FUSE_SET_ATTR_ATIME) != 0) change.accessed = wanted->st_atim;
  if ((which & FUSE_SET_ATTR_MTIME) != 0) change.modified = wanted->st_mtim;
  if ((which & FUSE_SET_ATTR_ATIME_NOW) != 0) change.accessed = now;
  if ((which & FUSE_SET_ATTR_MTIME_NOW) != 0) change.modified = now;
  reply_attributes(request, changed(request, inode_of(node_id), change));
}

void readlink(fuse_req_t request, fuse_ino_t number) {
  const Result<std::string> target = names_of(request).target_of(number);
  if (!target) return reply(request, target.error());
  fuse_reply_readlink(request, target->c_str());
}

void mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t /*device*/) {
  reply_entry(request, names_of(request).make(parent, name, maker_of(request, mode)));
}

void mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  reply_entry(request, names_of(request).make(parent, name, maker_of(request, S_IFDIR | mode)));
}

void unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  reply(request, names_of(request).remove(parent, name, false));
}

void rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  reply(request, names_of(request).remove(parent, name, true));
}

void symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  reply_entry(request, names_of(request).make_symlink(parent, name, target, maker_of(request, 0)));
}

// NOLINTNEXTLINE(readability-function-size): FUSE's parameters
void rename(fuse_req_t request, fuse_ino_t from_parent, const char* from, fuse_ino_t to_parent,
            const char* to, unsigned flags) {
  if ((flags & ~unsigned{RENAME_NOREPLACE}) != 0) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  reply(request, names_of(request).rename({from_parent, from, to_parent, to, flags == 0}));
}

void link(fuse_req_t request, fuse_ino_t node_id, fuse_ino_t parent, const char* name) {
  reply_entry(request, names_of(request).link(inode_of(node_id), parent, name));
}

void readdir(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset,
             fuse_file_info* /*file*/) {
  const Result<std::vector<Entry>> entries = names_of(request).list(number);
  if (!entries) return reply(request, entries.error());
  std::vector<char> text(size);
  std::size_t used = 0;
  for (auto i = static_cast<std::size_t>(offset); i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    struct stat about {};
    about.st_ino = entry.number;
    about.st_mode = entry.mode;
    const std::size_t bytes =
        fuse_add_direntry(request, text.data() + used, size - used, entry.name.c_str(), &about,
                          checked_cast<off_t>(i + 1));
    if (bytes > size - used) break;
    used += bytes;
  }
  fuse_reply_buf(request, text.data(), used);
}

void statfs(fuse_req_t request, fuse_ino_t /*node_id*/) {
  constexpr fsblkcnt_t blocks = 1 << 30;
  struct statvfs about {};
  about.f_bsize = about.f_frsize = 4096;
  about.f_blocks = about.f_bfree = about.f_bavail = blocks;
  about.f_files = blocks;
  about.f_ffree = about.f_favail = blocks - names_of(request).file_count();
  about.f_namemax = 255;
  fuse_reply_statfs(request, &about);
}

// ---- extended attributes ----

/// Handles an xattr that controls the testbed: resets the counters, or sets a fault.
Status command(Namespace& names, std::string_view name, std::string_view value) {
  if (name == counters_attribute) {
    names.costs().reset_counters();
    return {};
  }
  const Result<FaultOrder> order = parse_fault(value, names.costs().machine());
  if (!order) return order.error();
  return names.order(*order);
}

/// Numbers that are divided by single blanks; nullopt if there is anything else.
std::optional<std::vector<std::int64_t>> parse_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const auto number = parse_leading_number<std::int64_t>(text);
    if (!number) return std::nullopt;
    numbers.push_back(number->value);
    if (number->rest.empty()) return numbers;
    if (number->rest.front() != ' ') return std::nullopt;
    text = number->rest.substr(1);
  }
}

/// `numbers`: offset and length of each range. EINVAL for an empty range, as from Lustre.
Result<std::vector<Extent>> ranges_of(std::span<const std::int64_t> numbers) {
  if (numbers.size() % 2 != 0) return refused(EINVAL);
  std::vector<Extent> ranges;
  for (; !numbers.empty(); numbers = numbers.subspan(2)) {
    const Extent range{numbers[0], numbers[1]};
    if (range.offset < 0 || range.length < 1 ||
        range.offset > std::numeric_limits<std::int64_t>::max() - range.length) {
      return refused(EINVAL);
    }
    ranges.push_back(range);
  }
  return ranges;
}

Status change_locks(fuse_req_t request, std::string_view name, std::string_view value) {
  const std::int32_t node = mount_of(request).node();
  const std::optional<std::vector<std::int64_t>> numbers = parse_numbers(value);
  if (!numbers || numbers->size() < 2 || numbers->front() < 0) return refused(EINVAL);
  const std::span<const std::int64_t> words = std::span(*numbers).subspan(1);
  const Result<std::shared_ptr<StripedFile>> file =
      names_of(request).data(checked_cast<InodeNumber>(numbers->front()));
  if (!file) return file.error();
  if (name == lock_ahead_attribute) {
    const Result<std::vector<Extent>> ranges = ranges_of(words);
    return ranges ? (*file)->lock_ahead(node, *ranges) : ranges.error();
  }
  if (words.size() != 1 || !std::in_range<std::int32_t>(words.front())) return refused(EINVAL);
  if (name == narrow_locks_attribute) {
    (*file)->locks().narrow(node);
    return {};
  }
  const auto number = checked_cast<std::int32_t>(words.front());
  const std::unique_ptr<OpenHandle> handle = names_of(request).costs().open(node, false);
  const Caller caller{handle.get(), [request] { return is_interrupted(request); }};
  return name == acquire_group_attribute ? (*file)->acquire_group_lock(caller, number)
                                         : (*file)->release_group_lock(caller, number);
}

// NOLINTNEXTLINE(readability-function-size): FUSE's parameters
void setxattr(fuse_req_t request, fuse_ino_t node_id, const char* name, const char* value,
              std::size_t size, int /*flags*/) {
  if (name == counters_attribute || name == fault_attribute) {
    return reply(request, command(names_of(request), name, {value, size}));
  }
  if (name == acquire_group_attribute || name == release_group_attribute ||
      name == narrow_locks_attribute || name == lock_ahead_attribute) {
    return reply(request, change_locks(request, name, {value, size}));
  }
  const auto bytes = std::as_bytes(std::span(value, size));
  reply(request,
        names_of(request).set_attribute(inode_of(node_id), name, bytes, mount_of(request).node()));
}

/// The reply of getxattr and listxattr: only the size if `room` is 0.
void reply_sized(fuse_req_t request, std::string_view bytes, std::size_t room) {
  if (room == 0) {
    fuse_reply_xattr(request, bytes.size());
  } else if (bytes.size() > room) {
    fuse_reply_err(request, ERANGE);
  } else {
    fuse_reply_buf(request, bytes.data(), bytes.size());
  }
}

void getxattr(fuse_req_t request, fuse_ino_t node_id, const char* name, std::size_t size) {
  CostModel& costs = names_of(request).costs();
  if (name == node_attribute) {
    return reply_sized(request, std::to_string(mount_of(request).node()), size);
  }
  if (name == counters_attribute) return reply_sized(request, costs.counters_json(), size);
  if (name == machine_attribute) {
    return reply_sized(request, machine::describe_machine(costs.machine()), size);
  }
  if (name == delay_attribute) {
    const auto handle = costs.open(mount_of(request).node(), true);
    const Status waited = costs.delay({handle.get(), interruption_of(request)}, delay_length);
    return waited ? reply_sized(request, std::to_string(delay_length), size)
                  : reply(request, waited);
  }
  const Result<std::vector<std::byte>> value =
      names_of(request).attribute(inode_of(node_id), name, mount_of(request).node());
  if (!value) return reply(request, value.error());
  reply_sized(request, {reinterpret_cast<const char*>(value->data()), value->size()}, size);
}

void listxattr(fuse_req_t request, fuse_ino_t node_id, std::size_t size) {
  const Result<std::vector<std::string>> names =
      names_of(request).attribute_names(inode_of(node_id));
  if (!names) return reply(request, names.error());
  std::string text;
  for (const std::string& name : *names) text.append(name).push_back('\0');
  reply_sized(request, text, size);
}

void removexattr(fuse_req_t request, fuse_ino_t node_id, const char* name) {
  reply(request, names_of(request).remove_attribute(inode_of(node_id), name));
}

// NOLINTNEXTLINE(readability-function-size): FUSE's parameters
void ioctl(fuse_req_t request, fuse_ino_t /*node_id*/, unsigned command, void* /*argument*/,
           fuse_file_info* /*file*/, unsigned /*flags*/, const void* /*in*/,
           std::size_t /*in_size*/, std::size_t out_size) {
  if (command != get_ost_count || out_size < sizeof(int)) {
    fuse_reply_err(request, ENOTTY);
    return;
  }
  std::vector<std::byte> out(out_size);
  const int count = names_of(request).defaults().ost_count;
  std::memcpy(out.data(), &count, sizeof count);
  fuse_reply_ioctl(request, 0, out.data(), out.size());
}

// ---- data ----

/// Sets the layout of a file without a layout when it is opened for writing. If the node has the
/// file open for writing already, the client does not inform the server: no layout is set.
Status layout_for(fuse_req_t request, InodeNumber number, int flags) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (!writes || (flags & delay_layout) != 0) return {};
  if (names_of(request).is_written_on(number, mount_of(request).node())) return {};
  return names_of(request).give_layout(number, (flags & O_APPEND) != 0);
}

/// Gives a file its layout, if it gets one now, and opens it.
Status open_file(fuse_req_t request, InodeNumber number, int layout_flags, fuse_file_info& file) {
  Status given = layout_for(request, number, layout_flags);
  return given ? begin_open(request, number, file) : given;
}

void create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
            fuse_file_info* file) {
  Result<struct stat> found =
      names_of(request).make(parent, name, maker_of(request, S_IFREG | mode));
  int layout_flags = (file->flags & ~O_ACCMODE) | O_WRONLY;  // also if opened for reading only
  const bool exists = !found && found.error().system_errno == EEXIST;
  if (exists && (file->flags & O_EXCL) == 0) {  // another node has just created it
    found = names_of(request).lookup(parent, name);
    layout_flags = file->flags;
    // The kernel takes the file for a new one, and does not truncate it.
    if (found && (file->flags & O_TRUNC) != 0) {
      const InodeNumber number = found->st_ino;
      found = changed(request, number, {.size = 0});
      if (!found) names_of(request).forget(number, 1);
    }
  }
  if (!found) return reply(request, found.error());
  if (Status opened = open_file(request, found->st_ino, layout_flags, *file); !opened) {
    names_of(request).forget(found->st_ino, 1);
    return reply(request, opened);
  }
  const fuse_entry_param entry = entry_of(request, seen_by_node(request, *found));
  fuse_reply_create(request, &entry, file);
}

void open(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file) {
  if (Status opened = open_file(request, inode_of(node_id), file->flags, *file); !opened) {
    return reply(request, opened);
  }
  fuse_reply_open(request, file);
}

void read(fuse_req_t request, fuse_ino_t /*node_id*/, std::size_t size, off_t offset,
          fuse_file_info* file) {
  std::vector<std::byte> bytes(size);
  const store::ReadPiece piece{bytes.data(), std::ssize(bytes)};
  const store::Transfer done =
      opened_in(*file)->read({&piece, 1}, offset, interruption_of(request));
  if (done.error) return reply(request, *done.error);
  fuse_reply_buf(request, reinterpret_cast<const char*>(bytes.data()),
                 checked_cast<std::size_t>(done.bytes));
}

// NOLINTNEXTLINE(readability-function-size): FUSE's parameters
void write(fuse_req_t request, fuse_ino_t node_id, const char* from, std::size_t size, off_t offset,
           fuse_file_info* file) {
  const auto bytes = std::as_bytes(std::span(from, size));
  const IsInterrupted is_interrupted = interruption_of(request);
  NodeFile& opened = *opened_in(*file);
  // The kernel does not know about writes of other nodes: the model finds the end of the file.
  if ((file->flags & O_APPEND) != 0) {
    const Status appended = opened.append(bytes, is_interrupted);
    if (!appended) return reply(request, appended);
  } else {
    const store::WritePiece piece{bytes.data(), std::ssize(bytes)};
    const store::Transfer done = opened.write({&piece, 1}, offset, is_interrupted);
    if (done.error) return reply(request, *done.error);
  }
  names_of(request).mark_modified(inode_of(node_id));
  fuse_reply_write(request, size);
}

void flush(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file) {
  // close(2) of any descriptor releases the process's locks on the file.
  handle_in(*file)->forget_lock_owner(file->lock_owner);
  names_of(request)
      .locks(inode_of(node_id))
      .release({mount_of(request).node(), file->lock_owner}, whole_file);
  reply(request, opened_in(*file)->finish(interruption_of(request)));
}

void fsync(fuse_req_t request, fuse_ino_t /*node_id*/, int /*data_only*/, fuse_file_info* file) {
  NodeFile& opened = *opened_in(*file);
  const Status flushed = opened.flush(interruption_of(request));
  reply(request, flushed ? opened.data().sync() : flushed);
}

// NOLINTNEXTLINE(readability-function-size): FUSE's parameters
void fallocate(fuse_req_t request, fuse_ino_t node_id, int mode, off_t offset, off_t length,
               fuse_file_info* file) {
  if (mode != 0) {
    fuse_reply_err(request, EOPNOTSUPP);
    return;
  }
  const Status reserved = opened_in(*file)->allocate(offset + length);
  if (reserved) names_of(request).mark_modified(inode_of(node_id));
  reply(request, reserved);
}

// ---- locks ----

RangeLock lock_of(fuse_req_t request, const fuse_file_info& file, const struct flock& wanted) {
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const std::int64_t length = wanted.l_len == 0 ? end - wanted.l_start : wanted.l_len;
  return {{mount_of(request).node(), file.lock_owner},
          {wanted.l_start, length},
          wanted.l_type == F_WRLCK,
          wanted.l_pid};
}

void getlk(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file, struct flock* wanted) {
  const std::optional<RangeLock> found =
      names_of(request).locks(inode_of(node_id)).conflict(lock_of(request, *file, *wanted));
  struct flock answer = *wanted;
  answer.l_type = F_UNLCK;
  if (found) {
    answer.l_type = found->exclusive ? F_WRLCK : F_RDLCK;
    answer.l_start = found->range.offset;
    answer.l_len = found->range.length;
    answer.l_pid = found->pid;
  }
  fuse_reply_lock(request, &answer);
}

/// Acquires or releases (F_UNLCK) a lock, and replies.
void change_lock(fuse_req_t request, RangeLocks& locks, const RangeLock& lock, bool releases,
                 bool sleeps) {
  if (releases) {
    locks.release(lock.owner, lock.range);
    fuse_reply_err(request, 0);
    return;
  }
  const bool taken = locks.take(lock, sleeps, [&] { return is_interrupted(request); });
  fuse_reply_err(request, taken ? 0 : (sleeps ? EINTR : EAGAIN));
}

void setlk(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file, struct flock* wanted,
           int sleeps) {
  handle_in(*file)->note_lock_owner(file->lock_owner);
  change_lock(request, names_of(request).locks(inode_of(node_id)), lock_of(request, *file, *wanted),
              wanted->l_type == F_UNLCK, sleeps != 0);
}

void flock(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file, int operation) {
  RangeLocks& locks = names_of(request).whole_file_locks(inode_of(node_id));
  const LockOwner owner{mount_of(request).node(), file->lock_owner};
  const bool releases = (operation & LOCK_UN) != 0;
  // As Linux does, give up the old lock first: the new one may have to wait.
  if (!releases) locks.release(owner, whole_file);
  change_lock(request, locks, {owner, whole_file, (operation & LOCK_EX) != 0}, releases,
              (operation & LOCK_NB) == 0);
}

void release(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file) {
  const std::unique_ptr<Handle> closed(handle_in(*file));
  Namespace& names = names_of(request);
  const InodeNumber number = inode_of(node_id);
  const int node = mount_of(request).node();
  for (const std::uint64_t owner : closed->lock_owners()) {
    names.locks(number).release({node, owner}, whole_file);
  }
  if (file->flock_release != 0) {
    names.whole_file_locks(number).release({node, file->lock_owner}, whole_file);
  }
  fuse_reply_err(request, 0);
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops table{};
  table.init = init;
  table.lookup = lookup;
  table.forget = forget;
  table.forget_multi = forget_multi;
  table.getattr = getattr;
  table.setattr = setattr;
  table.readlink = readlink;
  table.mknod = mknod;
  table.mkdir = mkdir;
  table.unlink = unlink;
  table.rmdir = rmdir;
  table.symlink = symlink;
  table.rename = rename;
  table.link = link;
  table.readdir = readdir;
  table.statfs = statfs;
  table.setxattr = setxattr;
  table.getxattr = getxattr;
  table.listxattr = listxattr;
  table.removexattr = removexattr;
  table.ioctl = ioctl;
  table.create = create;
  table.open = open;
  table.read = read;
  table.write = write;
  table.flush = flush;
  table.fsync = fsync;
  table.release = release;
  table.fallocate = fallocate;
  table.getlk = getlk;
  table.setlk = setlk;
  table.flock = flock;
  return table;
}

/// Serves requests until the session is unmounted or exits.
void serve(fuse_session* session) {
  fuse_loop_config* const config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, server_threads_max);
  fuse_session_loop_mt(session, config);
  fuse_loop_cfg_destroy(config);
}

}  // namespace

Result<std::unique_ptr<FuseMount>> FuseMount::mount(Namespace& names, int node,
                                                    const std::string& directory) {
  const auto failure = [&](const std::string& what) {
    Error error = store::error_from_errno(errno, what, directory);
    return error;
  };
  std::unique_ptr<FuseMount> made(new FuseMount(names, node, directory));
  std::string program = "nacre-testbed";
  std::string dash = "-o";
  std::string options = "fsname=nacre-testbed,subtype=nacre,allow_other,default_permissions";
  std::array<char*, 3> words{program.data(), dash.data(), options.data()};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(words.size()), words.data());
  const fuse_lowlevel_ops table = operations();
  made->session_ = fuse_session_new(&arguments, &table, sizeof table, made.get());
  fuse_opt_free_args(&arguments);
  if (made->session_ == nullptr) return failure("create a FUSE session for");
  if (fuse_session_mount(made->session_, directory.c_str()) != 0) {
    fuse_session_destroy(std::exchange(made->session_, nullptr));
    return failure("mount");
  }
  made->server_ = std::thread(serve, made->session_);
  return made;
}

SimulatedTime FuseMount::cost_of_call() const {
  constexpr int attempts = 30;
  constexpr SimulatedTime longest = 300'000;  // more is the load of other programs
  SimulatedTime shortest = std::numeric_limits<SimulatedTime>::max();
  const std::string attribute(delay_attribute);
  for (int i = 0; i < attempts; ++i) {
    std::array<char, 32> value{};
    const SimulatedTime begin = real_timing().now();
    if (::getxattr(directory_.c_str(), attribute.c_str(), value.data(), value.size()) < 0) return 0;
    shortest = std::min(shortest, real_timing().now() - begin);
  }
  return std::min(shortest - delay_length, longest);
}

FuseMount::~FuseMount() {
  if (session_ == nullptr) return;
  names_.costs().stop();
  // Force: open files must not keep the server waiting.
  static_cast<void>(::umount2(directory_.c_str(), MNT_FORCE | MNT_DETACH));
  fuse_session_unmount(session_);
  if (server_.joinable()) server_.join();
  fuse_session_destroy(session_);
}

}  // namespace nacre::testbed
