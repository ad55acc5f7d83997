#include "store/posix/posix_store_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/pieces.h"
#include "store/posix/mount_options.h"
#include "store/posix/piece_batch.h"
#include "store/system/allocate.h"
#include "store/system/cached_pages.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {

// Reading the limit on file sizes is half of Nacre's own cost of a small write, so small writes
// read it only once per unlimited_ahead_bytes.
constexpr std::int64_t small_write_bytes = 4096;
constexpr std::int64_t unlimited_ahead_bytes = 1 << 20;

struct Target {
  int descriptor;
  const std::string& path;
};

Error transfer_error(int system_errno, const Target& target, bool writing, std::int64_t offset) {
  const std::string operation =
      std::string(writing ? "write" : "read") + " at byte " + std::to_string(offset) + " of";
  if (system_errno != 0) return error_from_errno(system_errno, operation, target.path);
  return {ErrorClass::io, 0,
          operation + " " + target.path + ": the system wrote no byte and returned no error"};
}

/// One system call. For a few bytes pread and pwrite are cheaper than their vectored forms by a
/// third.
template <bool writing>
ssize_t move(int descriptor, std::span<const iovec> vectors, std::int64_t position) {
  const iovec& first = vectors.front();
  const int count = static_cast<int>(vectors.size());
  if constexpr (writing) {
    if (count == 1) return ::pwrite(descriptor, first.iov_base, first.iov_len, position);
    return ::pwritev(descriptor, vectors.data(), count, position);
  } else {
    if (count == 1) return ::pread(descriptor, first.iov_base, first.iov_len, position);
    return ::preadv(descriptor, vectors.data(), count, position);
  }
}

/// Moves the pieces until all are done, the file ends or an error occurs.
template <class Piece>
Transfer transfer(const Target& target, std::span<const Piece> pieces, std::int64_t offset) {
  constexpr bool writing = std::is_same_v<Piece, WritePiece>;
  if (offset < 0) {
    Error error = transfer_error(EINVAL, target, writing, offset);
    error.error_class = ErrorClass::arg;
    return {0, std::move(error)};
  }
  Transfer done;
  PieceBatch<Piece> batch(pieces);
  while (true) {
    const std::span<const iovec> vectors = batch.next();
    if (vectors.empty()) return done;
    const std::int64_t position = offset + done.bytes;
    const ssize_t moved =
        retry_interrupted([&] { return move<writing>(target.descriptor, vectors, position); });
    if (moved < 0 || (moved == 0 && writing)) {
      done.error = transfer_error(moved < 0 ? errno : 0, target, writing, position);
      return done;
    }
    if (moved == 0) return done;
    batch.advance(moved);
    done.bytes += moved;
  }
}

/// The alignment of offsets, sizes and memory that O_DIRECT needs on most file systems.
constexpr std::int64_t direct_alignment = 4096;

template <class Piece>
bool is_aligned(std::span<const Piece> pieces, std::int64_t offset) {
  const auto fits = [](const Piece& piece) {
    return piece.size % direct_alignment == 0 &&
           reinterpret_cast<std::uintptr_t>(piece.data) % direct_alignment == 0;  // NOLINT
  };
  return offset % direct_alignment == 0 && std::ranges::all_of(pieces, fits);
}

/// EFBIG has two causes; the message names RLIMIT_FSIZE if that is the cause.
void explain_limit(Error& error, const FileSizeSignalGuard& guard) {
  const std::optional<std::uint64_t> limit_bytes = guard.limit_bytes();
  if (error.system_errno != EFBIG || !limit_bytes) return;
  error.message +=
      " (the limit on file sizes, ulimit -f, is " + std::to_string(*limit_bytes) + " bytes)";
}

/// As fallocate of the first `size` bytes, but signals do not interrupt it.
int allocate_first(int descriptor, std::int64_t size) {
  const int failure = allocate_in_pieces(size, [&](std::int64_t offset, std::int64_t length) {
    return fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
  });
  if (failure == 0) return 0;
  errno = failure;
  return -1;
}

/// Runs a call that makes the file larger. `call` returns -1 and sets errno.
template <class Call>
Status growing_call(std::string_view operation, const std::string& path, Call call) {
  const FileSizeSignalGuard guard;
  if (retry_interrupted(call) == 0) return {};
  Error error = error_from_errno(errno, operation, path);
  explain_limit(error, guard);
  return error;
}

}  // namespace

PosixStoreFile::PosixStoreFile(OpenedFile opened)
    : opened_(std::move(opened)),
      discards_pages_(!opened_.options.one_node && has_stale_pages(opened_.facts)) {
  opened_.facts.has_direct = opened_.direct.valid();
}

Error PosixStoreFile::error(int system_errno, std::string_view operation) const {
  return error_from_errno(system_errno, operation, opened_.path);
}

Transfer PosixStoreFile::read(std::span<const ReadPiece> pieces, std::int64_t offset) {
  if (!discards_pages_ || offset < 0) return transfer_pieces(pieces, offset);
  return read_uncached(pieces, offset);
}

Transfer PosixStoreFile::read_uncached(std::span<const ReadPiece> pieces, std::int64_t offset) {
  // While processes write near the end of the file, the kernel may take it for shorter than it is,
  // and reads end early (seen on ceph-fuse). It corrects the size when it is asked for it.
  constexpr int attempts = 3;
  Transfer done;
  std::vector<ReadPiece> left(pieces.begin(), pieces.end());
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t begin = offset + done.bytes;
    const std::int64_t wanted = total_bytes(std::span<const ReadPiece>(left));
    discard_cached_pages(opened_.file.number(), {begin, wanted});
    Transfer part = transfer_pieces(std::span<const ReadPiece>(left), begin);
    done.bytes += part.bytes;
    done.error = std::move(part.error);
    if (done.error || part.bytes == wanted) break;
    const Result<std::int64_t> end = size();
    if (!end || *end <= offset + done.bytes) break;
    left = pieces_behind(pieces, done.bytes);
  }
  return done;
}

template <class Piece>
Transfer PosixStoreFile::transfer_pieces(std::span<const Piece> pieces, std::int64_t offset) {
  constexpr bool writing = std::is_same_v<Piece, WritePiece>;
  const Target buffered{opened_.file.number(), opened_.path};
  const bool is_wanted = writing ? opened_.options.direct_writes : opened_.options.direct_reads;
  if (!is_wanted || !opened_.direct.valid() || !is_aligned(pieces, offset)) {
    return transfer(buffered, pieces, offset);
  }
  Transfer done = transfer(Target{opened_.direct.number(), opened_.path}, pieces, offset);
  if (!done.error || done.error->system_errno != EINVAL) return done;
  // The file system needs a larger alignment, or refuses to continue behind a short read.
  const std::vector<Piece> left = pieces_behind(pieces, done.bytes);
  Transfer more = transfer(buffered, std::span<const Piece>(left), offset + done.bytes);
  more.bytes += done.bytes;
  return more;
}

Transfer PosixStoreFile::write(std::span<const WritePiece> pieces, std::int64_t offset) {
  const bool is_small = pieces.size() == 1 && pieces[0].size <= small_write_bytes;
  if (is_small && offset <= unlimited_below_.load(std::memory_order_relaxed) - small_write_bytes) {
    return transfer_pieces(pieces, offset);
  }
  const FileSizeSignalGuard guard;
  Transfer done = transfer_pieces(pieces, offset);
  if (is_small && !done.error && !guard.limit_bytes()) {
    unlimited_below_.store(offset + unlimited_ahead_bytes, std::memory_order_relaxed);
  }
  if (done.error) explain_limit(*done.error, guard);
  return done;
}

Result<std::int64_t> PosixStoreFile::size() {
  // A client of NFS, or the kernel for a daemon of FUSE, answers fstat for seconds from what it has
  // cached.
  const bool may_be_stale =
      discards_pages_ || (!opened_.options.one_node && !opened_.facts.coherent);
  const int how = AT_EMPTY_PATH | (may_be_stale ? AT_STATX_FORCE_SYNC : 0);
  struct statx file {};
  if (::statx(opened_.file.number(), "", how, STATX_SIZE | STATX_TYPE, &file) != 0)
    return error(errno, "read the size of");
  if (!S_ISBLK(file.stx_mode)) return static_cast<std::int64_t>(file.stx_size);
  const off_t end = lseek(opened_.file.number(), 0, SEEK_END);
  if (end < 0) return error(errno, "read the size of");
  return end;
}

Status PosixStoreFile::resize(std::int64_t size) {
  return growing_call("set the size of", opened_.path,
                      [&] { return ftruncate(opened_.file.number(), size); });
}

Status PosixStoreFile::allocate(std::int64_t size) {
  if (size == 0) return {};
  // Read before fallocate: a Lustre client first raises the size that it knows, and keeps it if the
  // OSTs then refuse (seen with 2.17).
  const Result<std::int64_t> end = this->size();
  if (!end) return end.error();
  Status status = growing_call("preallocate", opened_.path,
                               [&] { return allocate_first(opened_.file.number(), size); });
  if (status) return status;
  const int reason = status.error().system_errno;
  if (reason != EOPNOTSUPP && reason != ENOSYS) return status;
  return write_zeros({*end, size - *end});
}

Status PosixStoreFile::write_zeros(const Extent& range) {
  constexpr std::int64_t zero_bytes = 64 << 10;
  constexpr std::int64_t write_bytes_max = 256 * zero_bytes;
  const std::vector<std::byte> zeros(zero_bytes);
  std::vector<WritePiece> pieces;
  for (std::int64_t offset = range.offset; offset < range.end();) {
    const std::int64_t write_end = std::min(range.end(), offset + write_bytes_max);
    pieces.clear();
    for (std::int64_t left = write_end - offset; left > 0; left -= zero_bytes) {
      pieces.push_back({zeros.data(), std::min(left, zero_bytes)});
    }
    Transfer done = write(pieces, offset);
    if (done.error) return *std::move(done.error);
    offset = write_end;
  }
  return {};
}

Status PosixStoreFile::sync() {
  if (retry_interrupted([&] { return fsync(opened_.file.number()); }) == 0) return {};
  // Files without storage, such as /dev/null, have nothing to sync. Of a regular file EROFS says
  // that the file system gave up, and lost data.
  const int reason = errno;
  struct stat found {};
  const bool is_regular = fstat(opened_.file.number(), &found) != 0 || S_ISREG(found.st_mode);
  if (!is_regular && (reason == EINVAL || reason == EROFS)) return {};
  return error(reason, "sync");
}

Status PosixStoreFile::close() {
  const int of_direct = opened_.direct.close();
  int reason = opened_.file.close();
  if (reason == 0) reason = of_direct;
  if (reason != 0) return error(reason, "close");
  return {};
}

Result<std::unique_ptr<FileLock>> PosixStoreFile::lock(const Extent& range, LockKind kind) {
  if (!opened_.options.read && kind == LockKind::shared) kind = LockKind::exclusive;
  if (!opened_.options.write && kind == LockKind::exclusive) {
    return Error{ErrorClass::access, EBADF,
                 "lock " + opened_.path + ": an exclusive lock needs the file open for writing"};
  }
  return lock_range(lock_target(), range, kind);
}

Status PosixStoreFile::check_locks() { return store::check_locks(lock_target()); }

LockTarget PosixStoreFile::lock_target() {
  std::call_once(local_locks_checked_, [&] {
    if (!opened_.options.one_node) {
      local_locks_cause_ = local_locks_cause_of(opened_.file.number());
    }
  });
  return {opened_.file.number(), opened_.path, local_locks_cause_};
}

}  // namespace nacre::store
