// Reading extended attributes.
#ifndef NACRE_STORE_SYSTEM_XATTR_H_
#define NACRE_STORE_SYSTEM_XATTR_H_

#include <cerrno>
#include <cstddef>

#include <sys/types.h>

namespace nacre::store {

/// Reads an xattr into `value`, a std::string or a vector of bytes. `get` calls fgetxattr or
/// getxattr. Returns 0 or an errno.
template <class Get, class Value>
int read_xattr(Get get, Value& value) {
  while (true) {
    const ssize_t size = get(nullptr, 0);
    if (size < 0) return errno;
    value.resize(static_cast<std::size_t>(size));
    const ssize_t read = get(value.data(), value.size());
    // The value may become longer between the calls.
    if (read < 0 && errno == ERANGE) continue;
    if (read < 0) return errno;
    value.resize(static_cast<std::size_t>(read));
    return 0;
  }
}

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_XATTR_H_
