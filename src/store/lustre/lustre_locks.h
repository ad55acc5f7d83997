// The locks that a file on Lustre, or on the testbed, is written under.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

/// A file on either. Locks are held by the open.
struct LockedFile {
  int descriptor;
  std::string path;
};

// As the functions of StoreFile.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_group(const LockedFile& file,
                                                           std::int32_t number);
[[nodiscard]] Status narrow_locks(const LockedFile& file);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_
