// Layouts of files on Lustre, through the kernel's interface alone.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
#define NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace nacre::store {

/// The xattr `lustre.lov` of the file that is open as `descriptor` on a Lustre mount; empty where
/// it has none yet.
[[nodiscard]] Result<std::vector<std::byte>> lustre_layout(int descriptor, const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_LAYOUT_H_
