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
#include "store/posix/range_lock.h"
#include "store/system/errno.h"
#include "store/system/file_size_signal.h"

namespace nacre::store {
namespace {

// Of small writes the question whether there is a limit on file sizes is the dearer half of what is
// not the write itself, so they ask only as they get ahead.
constexpr std::int64_t small_write_bytes = 4096;
constexpr std::int64_t unlimited_ahead_bytes = 1 << 20;

/// Which file, for messages and for the system.
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

/// One call of the system. The plain ones are cheaper by a third where a few bytes are moved.
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

/// Moves the pieces to the end, to the end of the file, or to an error.
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

/// What O_DIRECT asks of offsets, sizes and memory, or less.
constexpr std::int64_t direct_alignment = 4096;

template <class Piece>
bool is_aligned(std::span<const Piece> pieces, std::int64_t offset) {
  const auto fits = [](const Piece& piece) {
    return piece.size % direct_alignment == 0 &&
           reinterpret_cast<std::uintptr_t>(piece.data) % direct_alignment == 0;  // NOLINT
  };
  return offset % direct_alignment == 0 && std::ranges::all_of(pieces, fits);
}

/// EFBIG has two causes; a user can only act on the one that is named.
void explain_limit(Error& error, const FileSizeSignalGuard& guard) {
  const std::optional<std::uint64_t> limit_bytes = guard.limit_bytes();
  if (error.system_errno != EFBIG || !limit_bytes) return;
  error.message +=
      " (the limit on file sizes, ulimit -f, is " + std::to_string(*limit_bytes) + " bytes)";
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
    : file_(std::move(opened.file)),
      path_(std::move(opened.path)),
      options_(std::move(opened.options)),
      facts_(opened.facts),
      direct_(std::move(opened.direct)),
      identity_(opened.identity) {
  facts_.has_direct = direct_.valid();
}

Error PosixStoreFile::error(int system_errno, std::string_view operation) const {
  return error_from_errno(system_errno, operation, path_);
}

Transfer PosixStoreFile::read(std::span<const ReadPiece> pieces, std::int64_t offset) {
  return transfer_pieces(pieces, offset);
}

template <class Piece>
Transfer PosixStoreFile::transfer_pieces(std::span<const Piece> pieces, std::int64_t offset) {
  constexpr bool writing = std::is_same_v<Piece, WritePiece>;
  const Target buffered{file_.number(), path_};
  const bool is_wanted = writing ? options_.direct_writes : options_.direct_reads;
  if (!is_wanted || !direct_.valid() || !is_aligned(pieces, offset)) {
    return transfer(buffered, pieces, offset);
  }
  Transfer done = transfer(Target{direct_.number(), path_}, pieces, offset);
  if (!done.error || done.error->system_errno != EINVAL) return done;
  // What a file system does not take: its own alignment, or to go on where a read was short.
  const std::vector<Piece> left = pieces_behind(pieces, done.bytes);
  Transfer more = transfer(buffered, std::span<const Piece>(left), offset + done.bytes);
  more.bytes += done.bytes;
  return more;
}

Transfer PosixStoreFile::write(std::span<const WritePiece> pieces, std::int64_t offset) {
  const bool is_small = pieces.size() == 1 && pieces[0].size <= small_write_bytes;
  if (is_small && offset + small_write_bytes <= unlimited_below_.load(std::memory_order_relaxed)) {
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
  struct stat file {};
  if (fstat(file_.number(), &file) != 0) return error(errno, "read the size of");
  if (!S_ISBLK(file.st_mode)) return file.st_size;
  const off_t end = lseek(file_.number(), 0, SEEK_END);
  if (end < 0) return error(errno, "read the size of");
  return end;
}

Status PosixStoreFile::resize(std::int64_t size) {
  return growing_call("set the size of", path_, [&] { return ftruncate(file_.number(), size); });
}

Status PosixStoreFile::allocate(std::int64_t size) {
  if (size == 0) return {};
  // Asked before fallocate: a Lustre client raises its idea of the size first, and keeps the raised
  // size when the OSTs then refuse (seen with 2.17).
  const Result<std::int64_t> end = this->size();
  if (!end) return end.error();
  Status status =
      growing_call("preallocate", path_, [&] { return fallocate(file_.number(), 0, 0, size); });
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
  if (retry_interrupted([&] { return fsync(file_.number()); }) == 0) return {};
  // What has nothing behind it to be written to, /dev/null for one, is as stable as it will be.
  if (errno == EINVAL || errno == EROFS) return {};
  return error(errno, "sync");
}

Status PosixStoreFile::close() {
  const int of_direct = direct_.close();
  int reason = file_.close();
  if (reason == 0) reason = of_direct;
  if (reason != 0) return error(reason, "close");
  return {};
}

Result<std::unique_ptr<FileLock>> PosixStoreFile::lock(const Extent& range, LockKind kind) {
  if (!options_.read && kind == LockKind::shared) kind = LockKind::exclusive;
  if (!options_.write && kind == LockKind::exclusive) {
    return Error{ErrorClass::access, EBADF,
                 "lock " + path_ + ": an exclusive lock needs the file open for writing"};
  }
  std::call_once(locks_looked_at_, [&] {
    if (!options_.one_node) local_locks_ = file_system_with_local_locks(file_.number());
  });
  return lock_range({file_.number(), path_, local_locks_}, range, kind);
}

}  // namespace nacre::store
