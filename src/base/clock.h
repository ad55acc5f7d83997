// Clocks: what time is measured with, and what is written into reports.
#ifndef NACRE_BASE_CLOCK_H_
#define NACRE_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace nacre {

/// Nanoseconds since some point in the past; never goes back. Without a system call on Linux: some
/// 25 ns.
[[nodiscard]] inline std::int64_t monotonic_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Seconds since 1970, as the system believes.
[[nodiscard]] inline std::int64_t wall_clock_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace nacre

#endif  // NACRE_BASE_CLOCK_H_
