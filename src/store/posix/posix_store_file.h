// A file on a mounted file system.
#ifndef NACRE_STORE_POSIX_POSIX_STORE_FILE_H_
#define NACRE_STORE_POSIX_POSIX_STORE_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/extent.h"
#include "base/result.h"
#include "store/file_system.h"
#include "store/posix/range_lock.h"
#include "store/store.h"
#include "store/system/descriptor.h"

namespace nacre::store {

/// The result of an open by a store.
struct OpenedFile {
  std::string path;
  OpenOptions options;
  Descriptor file;
  Descriptor direct;  ///< with O_DIRECT; invalid if not requested or refused
  FileIdentity identity;
  FileSystemFacts facts;
};

/// See StoreFile. In addition:
/// - write, resize and allocate fail with EFBIG at RLIMIT_FSIZE; the program gets no SIGXFSZ;
/// - allocate appends zeros if the file system refuses fallocate, from the end that the file had
///   before the call; they overwrite concurrent writes there, and holes before that end stay holes;
/// - locks are OFD locks: they exclude other opens, also of this process, and the fcntl locks of
///   other programs. A shared lock on a file that is open only for writing is exclusive.
class PosixStoreFile : public StoreFile {
 public:
  explicit PosixStoreFile(OpenedFile opened);

  Transfer read(std::span<const ReadPiece> pieces, std::int64_t offset) override;
  Transfer write(std::span<const WritePiece> pieces, std::int64_t offset) override;
  Result<std::int64_t> size() override;
  Status resize(std::int64_t size) override;
  Status allocate(std::int64_t size) override;
  Status sync() override;
  Status close() override;
  Result<std::unique_ptr<FileLock>> lock(const Extent& range, LockKind kind) override;
  Status check_locks() override;
  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override {
    return StoreFile::lock_group(number);
  }
  Status narrow_locks() override { return StoreFile::narrow_locks(); }
  Status lock_ahead(std::span<const Extent> ranges) override {
    return StoreFile::lock_ahead(ranges);
  }
  FileIdentity identity() override { return opened_.identity; }
  FileSystemFacts facts() override { return opened_.facts; }
  FileLayouts* layouts() override { return StoreFile::layouts(); }

 protected:
  [[nodiscard]] const Descriptor& file() const { return opened_.file; }
  /// The same file with O_DIRECT; invalid if not requested or refused.
  [[nodiscard]] const Descriptor& direct() const { return opened_.direct; }
  [[nodiscard]] const std::string& path() const { return opened_.path; }

 private:
  template <class Piece>
  [[nodiscard]] Transfer transfer_pieces(std::span<const Piece> pieces, std::int64_t offset);

  /// Reads what other nodes have written, whatever the kernel has cached of the file and its size.
  [[nodiscard]] Transfer read_uncached(std::span<const ReadPiece> pieces, std::int64_t offset);
  [[nodiscard]] LockTarget lock_target();
  [[nodiscard]] Error error(int system_errno, std::string_view operation) const;
  /// Nothing if the range is empty.
  [[nodiscard]] Status write_zeros(const Extent& range);

  OpenedFile opened_;
  bool discards_pages_;  ///< FileSystem::stale_pages, and other nodes have the file open
  std::once_flag local_locks_checked_;
  std::string local_locks_cause_;  // see LockTarget
  /// There was no RLIMIT_FSIZE at the last check; small writes that end below this offset are not
  /// checked again. A program that then sets a limit below the bytes that it has already written
  /// gets the system's signal.
  std::atomic<std::int64_t> unlimited_below_ = 0;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_POSIX_STORE_FILE_H_
