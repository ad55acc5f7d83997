#include "posix/report/line_text.h"

#include <cerrno>
#include <string_view>

namespace nacre::posix {
namespace {

/// What an error is called on every system: strerror() is for no signal handler.
std::string_view name_of_error(int error) {
  switch (error) {
    case EFBIG:
      return "the file is too large (EFBIG)";
    case ENOSPC:
      return "no space is left on the device (ENOSPC)";
    case EDQUOT:
      return "the quota is exceeded (EDQUOT)";
    case EBADF:
      return "a call that the library does not see has closed the file (EBADF)";
    case ENOENT:
      return "its directory does not exist (ENOENT)";
    case EACCES:
      return "permission is denied (EACCES)";
    case EROFS:
      return "the file system is read-only (EROFS)";
    case ENOTDIR:
      return "a part of its path is no directory (ENOTDIR)";
    case ENAMETOOLONG:
      return "its path is too long (ENAMETOOLONG)";
    case E2BIG:
      return "the line is too long (E2BIG)";
    case EISDIR:
      return "it is a directory (EISDIR)";
    case EIO:
      return "the device failed (EIO)";
    default:
      return {};
  }
}

}  // namespace

LineText& LineText::add_error(int error) {
  const std::string_view name = name_of_error(error);
  return name.empty() ? add("errno ").add(error) : add(name);
}

}  // namespace nacre::posix
