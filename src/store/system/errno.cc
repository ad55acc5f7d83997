#include "store/system/errno.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <utility>

namespace nacre::store {
namespace {

struct ClassOfErrno {
  int system_errno;
  ErrorClass error_class;
};

constexpr std::array classes{
    ClassOfErrno{ENOENT, ErrorClass::no_such_file},
    ClassOfErrno{EEXIST, ErrorClass::file_exists},
    ClassOfErrno{EACCES, ErrorClass::access},
    ClassOfErrno{EPERM, ErrorClass::access},
    ClassOfErrno{ENOTDIR, ErrorClass::bad_file},
    ClassOfErrno{EISDIR, ErrorClass::bad_file},
    ClassOfErrno{ENAMETOOLONG, ErrorClass::bad_file},
    ClassOfErrno{ELOOP, ErrorClass::bad_file},
    ClassOfErrno{EINVAL, ErrorClass::bad_file},
    ClassOfErrno{EROFS, ErrorClass::read_only},
    ClassOfErrno{ENOSPC, ErrorClass::no_space},
    ClassOfErrno{EDQUOT, ErrorClass::quota},
    ClassOfErrno{EBUSY, ErrorClass::file_in_use},
    ClassOfErrno{ETXTBSY, ErrorClass::file_in_use},
    ClassOfErrno{ENOMEM, ErrorClass::no_mem},
    ClassOfErrno{EFAULT, ErrorClass::buffer},
    ClassOfErrno{ENOSYS, ErrorClass::unsupported_operation},
    ClassOfErrno{EOPNOTSUPP, ErrorClass::unsupported_operation},
};

/// Messages are in English whatever locale the program has set: users search for them and send them
/// to others.
locale_t plain_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace

ErrorClass error_class_of(int system_errno) {
  const auto found = std::ranges::find(classes, system_errno, &ClassOfErrno::system_errno);
  return found == classes.end() ? ErrorClass::io : found->error_class;
}

std::string describe_errno(int system_errno) {
  const locale_t locale = plain_locale();
  std::string text = locale != locale_t{} ? strerror_l(system_errno, locale)
                                          : "errno " + std::to_string(system_errno);
  // Leaves words in capitals as they are ("RFS specific error").
  const auto is_lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  if (text.size() > 1 && is_lower(text[1])) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

Error error_from_errno(int system_errno, std::string_view operation, std::string_view path) {
  std::string message(operation);
  message.append(" ").append(path).append(": ").append(describe_errno(system_errno));
  return {error_class_of(system_errno), system_errno, std::move(message)};
}

}  // namespace nacre::store
