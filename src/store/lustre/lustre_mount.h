// Which files lie on Lustre, or on the testbed, which stands for one where NACRE_TESTBED is set.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_MOUNT_H_
#define NACRE_STORE_LUSTRE_LUSTRE_MOUNT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace nacre::store {

inline constexpr std::uint32_t lustre_magic = 0x0BD00BD0;  // statfs's f_type

/// Whether the file that is open as `descriptor` lies on the testbed and this is to count. `magic`
/// is the f_type of its file system.
[[nodiscard]] bool is_on_testbed(int descriptor, std::uint32_t magic);

/// Whether locks of byte ranges hold only between processes of one node there: a Lustre that was
/// mounted with localflock.
[[nodiscard]] bool has_local_locks(int descriptor);
/// Whether a file system has the option, by the text of /proc/self/mountinfo. `device` is the
/// st_dev of its files.
[[nodiscard]] bool has_mount_option(std::string_view mountinfo, dev_t device,
                                    std::string_view option);

/// Whether a file of this name lies on either, or would if it existed.
[[nodiscard]] bool is_on_lustre(const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_MOUNT_H_
