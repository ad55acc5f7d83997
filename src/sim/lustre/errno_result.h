// Results of file system calls, whose errors are only an errno.
#ifndef NACRE_SIM_LUSTRE_ERRNO_RESULT_H_
#define NACRE_SIM_LUSTRE_ERRNO_RESULT_H_

#include "base/result.h"

namespace nacre::sim {

/// An error with errno `number` and without a message.
[[nodiscard]] inline Error refused(int number) { return Error{ErrorClass::io, number, ""}; }

/// The errno of an error, 0 for success.
[[nodiscard]] inline int errno_of(const Status& status) {
  return status.ok() ? 0 : status.error().system_errno;
}

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_ERRNO_RESULT_H_
