// Results of calls that end with an errno, as a file system's do.
#ifndef NACRE_TESTBED_ERRNO_RESULT_H_
#define NACRE_TESTBED_ERRNO_RESULT_H_

#include "base/result.h"

namespace nacre::testbed {

/// What a system call fails with.
[[nodiscard]] inline Error refused(int number) { return Error{ErrorClass::io, number, ""}; }

/// 0 where it went well.
[[nodiscard]] inline int errno_of(const Status& status) {
  return status.ok() ? 0 : status.error().system_errno;
}

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_ERRNO_RESULT_H_
