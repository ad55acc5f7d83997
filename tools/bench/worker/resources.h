#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nacre::bench {

[[nodiscard]] double now_seconds();

/// User and system time of all threads of this process.
[[nodiscard]] double cpu_seconds();

/// Resident memory of this process in bytes.
struct Memory {
  std::int64_t resident = 0;
  /// Maximum of the resident memory since reset_peak_memory().
  std::int64_t peak = 0;
  /// The part of `resident` that is pages of files: code, shared by all ranks of a node.
  std::int64_t file_pages = 0;
};
[[nodiscard]] Memory memory();

/// Resets memory().peak. Returns false if the kernel refuses; the peak then covers the life of the
/// process.
bool reset_peak_memory();

/// The share of other processes in the resident shared memory of this process, in bytes. A page
/// that n processes have mapped counts 1/n for each. Walks the page tables: too slow for timed
/// sections.
[[nodiscard]] std::int64_t shared_memory_of_others();

/// File names (without directory) of the loaded shared objects whose name contains "mpi", "nacre"
/// or "romio".
[[nodiscard]] std::vector<std::string> loaded_libraries();

}  // namespace nacre::bench
