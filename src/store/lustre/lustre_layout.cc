#include "store/lustre/lustre_layout.h"

#include <cerrno>

#include <sys/xattr.h>

#include "store/errno.h"

namespace nacre::store {
namespace {

constexpr const char* layout_xattr = "lustre.lov";

/// Replaces `bytes`; the system's error number, 0 where all went well.
int read_xattr(int descriptor, std::vector<std::byte>& bytes) {
  while (true) {
    const ssize_t size = ::fgetxattr(descriptor, layout_xattr, nullptr, 0);
    if (size < 0) return errno;
    bytes.resize(static_cast<std::size_t>(size));
    const ssize_t read = ::fgetxattr(descriptor, layout_xattr, bytes.data(), bytes.size());
    // It may have grown in between, as components are instantiated.
    if (read < 0 && errno == ERANGE) continue;
    if (read < 0) return errno;
    bytes.resize(static_cast<std::size_t>(read));
    return 0;
  }
}

}  // namespace

Result<std::vector<std::byte>> lustre_layout(int descriptor, const std::string& path) {
  std::vector<std::byte> bytes;
  const int failure = read_xattr(descriptor, bytes);
  if (failure == ENODATA) return std::vector<std::byte>();
  if (failure != 0) return error_from_errno(failure, "read the layout of", path);
  return bytes;
}

}  // namespace nacre::store
