// Options that a file system was mounted with.
#ifndef NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
#define NACRE_STORE_POSIX_MOUNT_OPTIONS_H_

#include <string_view>

#include <sys/types.h>

#include "store/file_system.h"

namespace nacre::store {

/// The file system of an open file where it was mounted so that its byte-range locks hold between
/// processes of one node only, else null.
[[nodiscard]] const FileSystem* file_system_with_local_locks(int descriptor);

/// Whether a file system has the option, by the text of /proc/self/mountinfo. `device` is the
/// st_dev of its files.
[[nodiscard]] bool has_mount_option(std::string_view mountinfo, dev_t device,
                                    std::string_view option);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
