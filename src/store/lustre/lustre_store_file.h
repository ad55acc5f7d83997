// A file on Lustre: its layouts and its locks.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_STORE_FILE_H_
#define NACRE_STORE_LUSTRE_LUSTRE_STORE_FILE_H_

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "store/lustre/lustre_layout.h"
#include "store/posix/posix_store_file.h"

namespace nacre::store {

/// See StoreFile. Files that are open with O_DIRECT get no group locks.
class LustreStoreFile : public PosixStoreFile {
 public:
  explicit LustreStoreFile(OpenedFile opened)
      : PosixStoreFile(std::move(opened)), layouts_(file().number(), path()) {}

  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t number) override;
  Status narrow_locks() override;
  FileLayouts* layouts() override { return &layouts_; }

 protected:
  // System calls of Lustre's client. The open file description owns the locks. They return 0 or
  // more, or -1 and set errno.
  /// One attempt; fails with EAGAIN or EBUSY while a lock with another number is held.
  virtual int acquire_group_lock(std::int32_t number);
  virtual int release_group_lock(std::int32_t number);
  virtual int narrow_locks_of(int descriptor);

 private:
  class GroupLock;

  LustreLayouts layouts_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_STORE_FILE_H_
