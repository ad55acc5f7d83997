// The mount table: the types and options of mounts.
#ifndef NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
#define NACRE_STORE_POSIX_MOUNT_OPTIONS_H_

#include <string>
#include <string_view>

#include "store/file_system.h"

namespace nacre::store {

/// What limits the byte-range locks of an open file to one node, as the end of a sentence, for
/// example "mounted with localflock"; empty if nothing does.
[[nodiscard]] std::string local_locks_cause_of(int descriptor);

/// The same for a file of `system` on the mount with this number in /proc/self/mountinfo, given as
/// text. Reads the files of FileSystem::local_locks_settings.
[[nodiscard]] std::string local_locks_cause_in(const FileSystem& system, std::string_view mountinfo,
                                               std::string_view mount_number);

/// The type of the mount of an open file, for example "fuse.ceph-fuse"; empty if it is unknown.
[[nodiscard]] std::string mount_type_of(int descriptor);

/// The number of a file's mount, from /proc/self/fdinfo/N, given as text; empty if it has none.
[[nodiscard]] std::string mount_number_in(std::string_view fdinfo);

/// Whether /proc/self/mountinfo, given as text, lists the option for the mount with this number.
/// st_dev does not identify a mount: it is the same in all mounts of one Lustre.
[[nodiscard]] bool has_mount_option(std::string_view mountinfo, std::string_view mount_number,
                                    std::string_view option);

/// The type that /proc/self/mountinfo, given as text, lists for the mount with this number; empty
/// if it lists none.
[[nodiscard]] std::string mount_type_in(std::string_view mountinfo, std::string_view mount_number);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_MOUNT_OPTIONS_H_
