// The clock of this library: no C++ library, no allocation.
#ifndef NACRE_POSIX_SYSTEM_CLOCK_H_
#define NACRE_POSIX_SYSTEM_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace nacre::posix {

/// Nanoseconds since an arbitrary point in the past; about 25 ns a call.
[[nodiscard]] inline std::int64_t now_nanoseconds(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr std::int64_t nanoseconds = 1'000'000'000;
  return now.tv_sec * nanoseconds + now.tv_nsec;
}

}  // namespace nacre::posix

#endif  // NACRE_POSIX_SYSTEM_CLOCK_H_
