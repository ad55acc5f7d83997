// What the OSTs of a Lustre say of themselves, through system calls alone (no liblustreapi).
#ifndef NACRE_STORE_LUSTRE_LUSTRE_TARGETS_H_
#define NACRE_STORE_LUSTRE_LUSTRE_TARGETS_H_

#include <string>

namespace nacre::store {

/// Whether the first and the last OST of the Lustre on which `directory` lies say that their disks
/// do not rotate. Asks these two, or OSTs beside them if they are down, once per file system and
/// process; false if none answers.
[[nodiscard]] bool are_osts_flash(const std::string& directory);

}  // namespace nacre::store

#endif  // NACRE_STORE_LUSTRE_LUSTRE_TARGETS_H_
