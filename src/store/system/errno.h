// The one place where an errno becomes an Error.
#ifndef NACRE_STORE_SYSTEM_ERRNO_H_
#define NACRE_STORE_SYSTEM_ERRNO_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nacre::store {

/// The MPI error class of an errno (MPI-4.1, 14.7); io if there is no closer class. Three choices:
/// - EINVAL is bad_file: callers pass valid numbers, so the system rejects the file.
/// - EFBIG is io: no_space or quota would make users free space in vain.
/// - EFAULT is buffer: a buffer in GPU memory causes it too.
[[nodiscard]] ErrorClass error_class_of(int system_errno);

/// The system's message for the errno, in English in every locale, without a capital at the start:
/// "no such file or directory". Thread-safe.
[[nodiscard]] std::string describe_errno(int system_errno);

/// "OPERATION PATH: the system's message", e.g. "open /scratch/x.h5: no such file or directory".
/// Thread-safe.
[[nodiscard]] Error error_from_errno(int system_errno, std::string_view operation,
                                     std::string_view path);

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_ERRNO_H_
