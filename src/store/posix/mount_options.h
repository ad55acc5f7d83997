// Mount options of a file system.
#ifndef NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
#define NACRE_STORE_POSIX_MOUNT_OPTIONS_H_

#include <string_view>

#include <sys/types.h>

#include "store/file_system.h"

namespace nacre::store {

/// The file system of an open file if a mount option limits its byte-range locks to one node,
/// otherwise null.
[[nodiscard]] const FileSystem* file_system_with_local_locks(int descriptor);

/// Whether /proc/self/mountinfo, given as text, lists the option for a file system. `device` is the
/// st_dev of its files.
[[nodiscard]] bool has_mount_option(std::string_view mountinfo, dev_t device,
                                    std::string_view option);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
