// Layouts of files on Lustre, through the kernel's interface alone.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/posix/descriptor.h"

namespace nacre::store {

/// Makes the file `path` on Lustre with the layout `lov`, before it has any object: open(2) with
/// `flags` and O_EXCL. Errors: system_errno EEXIST where it exists; a layout that the file system
/// refuses, and then there is no file.
[[nodiscard]] Result<Descriptor> create_striped(const std::string& path, int flags,
                                                unsigned permissions,
                                                std::span<const std::byte> lov);

/// The xattr `lustre.lov` of the file that is open as `descriptor` on a Lustre mount; empty where
/// it has none yet.
[[nodiscard]] Result<std::vector<std::byte>> lustre_layout(int descriptor, const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
