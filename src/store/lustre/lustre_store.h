// Files on Lustre, with their layouts and locks, and their store.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_STORE_H_
#define NACRE_STORE_LUSTRE_LUSTRE_STORE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "store/lustre/lustre_layout.h"
#include "store/lustre/lustre_targets.h"
#include "store/path.h"
#include "store/posix/posix_store.h"
#include "store/posix/posix_store_file.h"

namespace nacre::store {

/// See StoreFile. Files that are open with O_DIRECT get no group locks.
class LustreStoreFile : public PosixStoreFile {
 public:
  explicit LustreStoreFile(OpenedFile opened)
      : PosixStoreFile(std::move(opened)), layouts_(file().number(), path()) {}

  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override;
  Status narrow_locks() override;
  Status lock_ahead(std::span<const Extent> ranges) override;
  FileLayouts* layouts() override { return &layouts_; }

 protected:
  // System calls of Lustre's client. The open file description owns the locks. They return 0 or
  // more, or -1 and set errno.
  /// One attempt; fails with EAGAIN or EBUSY while a lock with another number is held.
  virtual int acquire_group_lock(std::int32_t number);
  virtual int release_group_lock(std::int32_t number);
  virtual int narrow_locks_of(int descriptor);
  virtual int request_locks(std::span<const Extent> ranges);
  /// Lustre takes fewer than 1024 advices, and the testbed an xattr of 64 KiB.
  static constexpr std::size_t ranges_at_once = 1000;

 private:
  class GroupLock;

  LustreLayouts layouts_;
};

/// A PosixStore that also sets the layouts that OpenOptions request.
class LustreStore : public PosixStore {
 public:
  Result<std::int32_t> target_count(const std::string& path) override {
    return ost_count(directory_of(path));
  }
  bool has_flash_targets(const std::string& path) override {
    return are_osts_flash(directory_of(path));
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override;

 protected:
  Result<Descriptor> open_descriptor(const std::string& path, int flags,
                                     const OpenOptions& options) override;
  /// A second open of the file must not set a layout.
  int reopen_flags() const override { return delays_layout_flag(); }
  /// O_APPEND: Lustre creates such files with a single stripe.
  int counter_flags() const override;
  std::unique_ptr<StoreFile> make_file(OpenedFile opened) override;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_STORE_H_
