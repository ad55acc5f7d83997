// The layout that a Lustre gives to files for which nothing requests one.
#ifndef NACRE_STORE_LUSTRE_LUSTRE_DEFAULTS_H_
#define NACRE_STORE_LUSTRE_LUSTRE_DEFAULTS_H_

#include <optional>
#include <string>

#include "plan/layout/layout.h"

namespace nacre::store {

/// Where the kernel shows the settings of each mounted Lustre.
inline constexpr const char* lustre_settings_folder = "/sys/fs/lustre/lov";

/// The stripe count and stripe size that the clients of this node show. Nothing if they show none,
/// or if the mounted file systems have different ones.
[[nodiscard]] std::optional<plan::Layout> default_of_clients(
    const std::string& folder = lustre_settings_folder);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_DEFAULTS_H_
