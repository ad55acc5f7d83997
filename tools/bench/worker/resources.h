#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nacre::bench {

[[nodiscard]] double now_seconds();

/// User and system time of this process, all of its threads.
[[nodiscard]] double cpu_seconds();

/// Resident memory of this process in bytes.
struct Memory {
  std::int64_t resident = 0;
  /// The most that was resident since reset_peak_memory().
  std::int64_t peak = 0;
  /// The part of `resident` that is pages of files: code, which all ranks of a node share.
  std::int64_t file_pages = 0;
};
[[nodiscard]] Memory memory();

/// False where the kernel does not let a process reset its peak; memory().peak is then that of its
/// life.
bool reset_peak_memory();

/// How much of the resident shared memory is other processes' share: pages that n processes of this
/// node have mapped count 1/n for each. Walks the page tables, so it is not for timed sections.
[[nodiscard]] std::int64_t shared_memory_of_others();

/// File names (without folder) of the shared objects in this process that have to do with MPI or
/// its I/O.
[[nodiscard]] std::vector<std::string> loaded_libraries();

}  // namespace nacre::bench
