// The one place where an errno becomes an Error.
#ifndef NACRE_STORE_ERRNO_H_
#define NACRE_STORE_ERRNO_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace nacre::store {

/// The class that MPI gives to what the errno says (MPI-4.1, 14.7). Two of them are choices:
/// - EINVAL is bad_file: the calls of this floor pass checked numbers, so what the system objects
/// to is
///   the file, by its name or its kind.
/// - EFBIG is io: MPI has no class for it, and no_space or quota would send a user to free space in
///   vain. The message says "file too large".
/// - EFAULT is buffer: also what a buffer in GPU memory gets from the system.
/// What has no class of its own is io.
[[nodiscard]] ErrorClass error_class_of(int system_errno);

/// The system's words for the errno, in English whatever the program's locale, without the capital
/// at the start: "no such file or directory". Thread-safe.
[[nodiscard]] std::string describe_errno(int system_errno);

/// "OPERATION PATH: what the system says", e.g. "open /scratch/x.h5: no such file or directory".
/// Thread-safe.
[[nodiscard]] Error error_from_errno(int system_errno, std::string_view operation,
                                     std::string_view path);

}  // namespace nacre::store

#endif  // NACRE_STORE_ERRNO_H_
