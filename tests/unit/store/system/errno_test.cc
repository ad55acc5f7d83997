// The translation of errno into error classes and messages.
#include "store/system/errno.h"

#include <cerrno>
#include <clocale>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::store {

TEST_CASE("every errno of file operations has its error class") {
  struct Case {
    int system_errno;
    ErrorClass error_class;
  };
  const std::vector<Case> cases{
      {ENOENT, ErrorClass::no_such_file},
      {EEXIST, ErrorClass::file_exists},
      {EACCES, ErrorClass::access},
      {EPERM, ErrorClass::access},
      {ENOTDIR, ErrorClass::bad_file},
      {EISDIR, ErrorClass::bad_file},
      {ENAMETOOLONG, ErrorClass::bad_file},
      {ELOOP, ErrorClass::bad_file},
      {EINVAL, ErrorClass::bad_file},
      {EROFS, ErrorClass::read_only},
      {ENOSPC, ErrorClass::no_space},
      {EDQUOT, ErrorClass::quota},
      {EBUSY, ErrorClass::file_in_use},
      {ETXTBSY, ErrorClass::file_in_use},
      {ENOMEM, ErrorClass::no_mem},
      {EFAULT, ErrorClass::buffer},
      {ENOSYS, ErrorClass::unsupported_operation},
      {EOPNOTSUPP, ErrorClass::unsupported_operation},
      {EFBIG, ErrorClass::io},
      {EIO, ErrorClass::io},
      {ESTALE, ErrorClass::io},
      {EMFILE, ErrorClass::io},
      {12345, ErrorClass::io},
  };
  for (const Case& each : cases) {
    CAPTURE(each.system_errno);
    CHECK(error_class_of(each.system_errno) == each.error_class);
  }
}

TEST_CASE("a message has the operation, the path and the text of the system in lower case") {
  const Error error = error_from_errno(ENOENT, "open", "/scratch/run1/x.h5");
  CHECK(error.error_class == ErrorClass::no_such_file);
  CHECK(error.system_errno == ENOENT);
  CHECK(error.message == "open /scratch/run1/x.h5: no such file or directory");
  CHECK(describe_errno(EFBIG) == "file too large");
  CHECK(describe_errno(12345) == "unknown error 12345");
}

TEST_CASE("texts that begin with an abbreviation keep their capitals") {
  CHECK(describe_errno(EDOTDOT) == "RFS specific error");
}

TEST_CASE("messages are English in a program with another locale") {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    MESSAGE("SKIP: locale de_DE.UTF-8 is not installed");
    return;
  }
  CHECK(describe_errno(ENOENT) == "no such file or directory");
  std::setlocale(LC_ALL, "C");
}

}  // namespace nacre::store
