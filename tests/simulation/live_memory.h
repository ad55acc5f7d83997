// The memory that the process has allocated and not freed.
#ifndef NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_
#define NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_

#include <cstdint>

namespace nacre::simulation {

/// Bytes of operator new, which this program replaces. With AddressSanitizer, which finds leaks
/// itself: 0.
[[nodiscard]] std::int64_t live_bytes();

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_
