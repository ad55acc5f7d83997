// Mount options of a file system.
#ifndef NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
#define NACRE_STORE_POSIX_MOUNT_OPTIONS_H_

#include <string>
#include <string_view>

#include "store/file_system.h"

namespace nacre::store {

/// The file system of an open file if a mount option limits its byte-range locks to one node,
/// otherwise null.
[[nodiscard]] const FileSystem* file_system_with_local_locks(int descriptor);

/// The number of a file's mount, from /proc/self/fdinfo/N, given as text; empty if it has none.
[[nodiscard]] std::string mount_number_in(std::string_view fdinfo);

/// Whether /proc/self/mountinfo, given as text, lists the option for the mount with this number.
/// st_dev does not identify a mount: it is the same in all mounts of one Lustre.
[[nodiscard]] bool has_mount_option(std::string_view mountinfo, std::string_view mount_number,
                                    std::string_view option);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
