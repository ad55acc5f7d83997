#include "store/lustre/lustre_layout.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/errno.h"

namespace nacre::store {
namespace {

constexpr const char* layout_xattr = "lustre.lov";
/// Of open(2) on Lustre: the file gets no layout yet. Elsewhere it leaves O_ASYNC set.
constexpr int delay_create = O_NOCTTY | FASYNC;

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

Result<Descriptor> create_striped(const std::string& path, int flags, unsigned permissions,
                                  std::span<const std::byte> lov) {
  const int exclusively = flags | O_CREAT | O_EXCL | delay_create;
  Descriptor file(
      retry_interrupted([&] { return ::open(path.c_str(), exclusively, permissions); }));
  if (!file.valid()) return error_from_errno(errno, "open", path);
  const int set = retry_interrupted(
      [&] { return ::fsetxattr(file.number(), layout_xattr, lov.data(), lov.size(), 0); });
  if (set == 0) return file;
  const int reason = errno;
  // Without a layout it would fail every write of whoever has it open.
  static_cast<void>(::unlink(path.c_str()));
  Error error = error_from_errno(reason, "set the layout of", path);
  error.message += " (are there such OSTs? `lfs osts` lists them)";
  return error;
}

Result<std::vector<std::byte>> lustre_layout(int descriptor, const std::string& path) {
  std::vector<std::byte> bytes;
  const int failure = read_xattr(descriptor, bytes);
  if (failure == ENODATA) return std::vector<std::byte>();
  if (failure != 0) return error_from_errno(failure, "read the layout of", path);
  return bytes;
}

}  // namespace nacre::store
