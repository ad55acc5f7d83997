// The memory of operator new, which this program replaces: what the process has allocated and not
// freed, and which allocations fail. It also replaces mmap() and munmap(), for memory that is
// reserved (store::ReservedMemory). With AddressSanitizer, which finds leaks itself, nothing is
// counted and nothing fails.
#ifndef NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_
#define NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_

#include <cstdint>
#include <functional>

namespace nacre::simulation {

[[nodiscard]] std::int64_t live_bytes();
/// The most live bytes since the last call.
[[nodiscard]] std::int64_t take_peak_bytes();
/// The most bytes of one mapping that had pages when it was unmapped, since the last call. Counts
/// while refuse_memory() is in force.
[[nodiscard]] std::int64_t take_largest_mapping();
/// `refuses` is called for each allocation that may fail (std::nothrow, and mmap() with
/// MAP_NORESERVE), and returns whether it does. Null: none fails.
void refuse_memory(std::function<bool()> refuses);

}  // namespace nacre::simulation

#endif  // NACRE_TESTS_SIMULATION_LIVE_MEMORY_H_
