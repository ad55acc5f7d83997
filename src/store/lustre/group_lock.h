// Group locks of files on Lustre, or on the testbed.
#ifndef NACRE_STORE_LUSTRE_GROUP_LOCK_H_
#define NACRE_STORE_LUSTRE_GROUP_LOCK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

/// As StoreFile::lock_group(), of a file on either that is open as `descriptor`, by whose number it
/// is held.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_group(int descriptor, const std::string& path,
                                                           std::int32_t number);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_GROUP_LOCK_H_
