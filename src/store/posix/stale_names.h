// Names that a client remembers as missing.
#ifndef NACRE_STORE_POSIX_STALE_NAMES_H_
#define NACRE_STORE_POSIX_STALE_NAMES_H_

#include <string>

namespace nacre::store {

/// Whether a name that was not found may exist now, so that another attempt is worthwhile. Clients
/// of NFS remember for half a minute and longer that a name is missing. This has them ask the
/// server for its directory; if the directory has changed, they look for the name again. False
/// where caches are coherent.
[[nodiscard]] bool may_exist_now(const std::string& path);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_STALE_NAMES_H_
