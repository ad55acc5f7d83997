// A file of any file system that the kernel mounts.
#ifndef NACRE_STORE_POSIX_POSIX_STORE_FILE_H_
#define NACRE_STORE_POSIX_POSIX_STORE_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "base/extent.h"
#include "base/result.h"
#include "store/file_system.h"
#include "store/posix/descriptor.h"
#include "store/store.h"

namespace nacre::store {

/// What a store has opened.
struct OpenedFile {
  std::string path;
  OpenOptions options;
  Descriptor file;
  Descriptor
      direct;  ///< the same file with O_DIRECT; not valid where nobody asked or it is refused
  FileIdentity identity;
  FileSystemFacts facts;
};

/// See StoreFile. What this one adds:
/// - writes, resize and allocate that meet RLIMIT_FSIZE fail with EFBIG; no SIGXFSZ reaches the
/// program;
/// - allocate on a file system that refuses fallocate writes zeros from where the file ended before
///   the call, over anything that is written there meanwhile; holes before that end stay holes;
/// - locks are OFD locks: they hold against other opens, in this process too, and against the
///   fcntl locks of other programs. A shared lock on a file open for writing only is an exclusive
///   one.
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
  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override {
    return StoreFile::lock_group(number);
  }
  Status narrow_locks() override { return StoreFile::narrow_locks(); }
  FileIdentity identity() override { return identity_; }
  FileSystemFacts facts() override { return facts_; }
  FileLayouts* layouts() override { return StoreFile::layouts(); }

 protected:
  [[nodiscard]] const Descriptor& file() const { return file_; }
  /// The same file with O_DIRECT; not valid where nobody asked or it is refused.
  [[nodiscard]] const Descriptor& direct() const { return direct_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  template <class Piece>
  [[nodiscard]] Transfer transfer_pieces(std::span<const Piece> pieces, std::int64_t offset);

  [[nodiscard]] Error error(int system_errno, std::string_view operation) const;
  /// Nothing where the range has no bytes.
  [[nodiscard]] Status write_zeros(const Extent& range);

  Descriptor file_;
  std::string path_;
  OpenOptions options_;
  FileSystemFacts facts_;
  Descriptor direct_;
  FileIdentity identity_;
  std::once_flag locks_looked_at_;
  const FileSystem* local_locks_ = nullptr;  // see LockTarget
  /// When a small write was last asked about, there was no RLIMIT_FSIZE; those that end below this
  /// are not asked about again. A program that sets a limit in the midst of such writes, below what
  /// it has written already, is told by the system's signal.
  std::atomic<std::int64_t> unlimited_below_ = 0;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_POSIX_STORE_FILE_H_
