// Clocks: one to measure durations, one for the dates in reports.
#ifndef NACRE_BASE_CLOCK_H_
#define NACRE_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace nacre {

/// Nanoseconds since an arbitrary point in the past; never decreases. On Linux a call takes about
/// 25 ns and makes no system call.
[[nodiscard]] inline std::int64_t monotonic_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Nanoseconds since 1970, by the system's clock.
[[nodiscard]] inline std::int64_t wall_clock_nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace nacre

#endif  // NACRE_BASE_CLOCK_H_
