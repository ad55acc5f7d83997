// Random numbers from the system, for unique names.
#ifndef NACRE_STORE_RANDOM_BITS_H_
#define NACRE_STORE_RANDOM_BITS_H_

#include <cstdint>

namespace nacre::store {

/// One system call. std::random_device executes CPUID first, which traps in virtual machines
/// (40 us).
[[nodiscard]] std::uint64_t random_bits();

}  // namespace nacre::store

#endif  // NACRE_STORE_RANDOM_BITS_H_
