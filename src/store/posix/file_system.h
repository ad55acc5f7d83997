// What is known of file systems by the magic number that statfs gives.
#ifndef NACRE_STORE_POSIX_FILE_SYSTEM_H_
#define NACRE_STORE_POSIX_FILE_SYSTEM_H_

#include <cstdint>

#include "store/store.h"

namespace nacre::store {

/// Name and coherence for a statfs f_type; the name of an unknown one is the number, "0x1badface".
/// Pure. block_size_bytes is left at its default.
[[nodiscard]] FileSystemFacts file_system_of_magic(std::uint32_t magic);

/// The same for the file that is open as `descriptor`, with its block size. Never fails: what the
/// system does not tell is "unknown".
[[nodiscard]] FileSystemFacts file_system_of(int descriptor);

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_FILE_SYSTEM_H_
