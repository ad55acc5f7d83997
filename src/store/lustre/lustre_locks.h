// The locks that a file on Lustre, or on the testbed, is written under.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace nacre::store {

// As the functions of StoreFile, of a file on either that is open as `descriptor`, by whose number
// what they do is held.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_group(int descriptor, const std::string& path,
                                                           std::int32_t number);
[[nodiscard]] Status narrow_locks(int descriptor, const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LOCKS_H_
