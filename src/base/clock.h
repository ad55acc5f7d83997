// Clocks: one to measure durations, one for the dates in reports. A program that simulates ranks
// replaces the first by its virtual time.
#ifndef NACRE_BASE_CLOCK_H_
#define NACRE_BASE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nacre {

/// A source of time that replaces the clocks of the process.
class Clock {
 public:
  /// Never decreases.
  [[nodiscard]] virtual std::int64_t nanoseconds() const = 0;

 protected:
  ~Clock() = default;
};

namespace detail {
inline constinit std::atomic<const Clock*> clock_replacement = nullptr;

[[nodiscard]] inline const Clock* replaced_clock() {
  return clock_replacement.load(std::memory_order_relaxed);
}
}  // namespace detail

/// Whether a ClockReplacement exists.
[[nodiscard]] inline bool is_clock_replaced() { return detail::replaced_clock() != nullptr; }

/// As long as it exists, monotonic_nanoseconds(), clock_ticks() and wall_clock_nanoseconds() return
/// the time of `clock`, which must outlive it. One at a time in a process; no other thread may
/// measure a duration when it begins or ends.
class ClockReplacement {
 public:
  explicit ClockReplacement(const Clock& clock) { detail::clock_replacement = &clock; }
  ~ClockReplacement() { detail::clock_replacement = nullptr; }
  ClockReplacement(const ClockReplacement&) = delete;
  ClockReplacement& operator=(const ClockReplacement&) = delete;
};

namespace detail {
[[nodiscard]] inline std::int64_t steady_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
}  // namespace detail

/// Nanoseconds since an arbitrary point in the past; never decreases. On Linux a call takes about
/// 25 ns and makes no system call.
[[nodiscard]] inline std::int64_t monotonic_nanoseconds() {
  if (const Clock* clock = detail::replaced_clock(); clock != nullptr) return clock->nanoseconds();
  return detail::steady_nanoseconds();
}

/// The processor's counter, or the clock if it has none. Not replaced by a Clock, in contrast to
/// clock_ticks().
[[nodiscard]] inline std::int64_t processor_ticks() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  std::int64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));  // NOLINT(hicpp-no-assembler)
  return ticks;
#else
  return detail::steady_nanoseconds();
#endif
}

/// A counter that advances at a constant rate. A call takes some 8 ns and 6 instructions.
[[nodiscard]] inline std::int64_t clock_ticks() {
  if (const Clock* clock = detail::replaced_clock(); clock != nullptr) return clock->nanoseconds();
  return processor_ticks();
}

/// The rate of clock_ticks(), measured since the process loaded this code; always the same from
/// 10 ms after that, so that sums and their parts agree. 1 while a Clock replaces the process's.
[[nodiscard]] double nanoseconds_per_tick();

/// Converts between clock_ticks() and monotonic_nanoseconds(), which it reads once, when it is
/// made. For durations: after a long time it deviates by the error of the rate.
class TickScale {
 public:
  /// clock_ticks() when this was made.
  [[nodiscard]] std::int64_t begin() const { return begin_ticks_; }
  [[nodiscard]] std::int64_t nanoseconds(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * rate_);
  }
  /// The time when clock_ticks() is `ticks`.
  [[nodiscard]] std::int64_t time_at(std::int64_t ticks) const {
    return begin_ + nanoseconds(ticks - begin_ticks_);
  }
  /// What clock_ticks() is at `time`.
  [[nodiscard]] std::int64_t ticks_at(std::int64_t time) const {
    return begin_ticks_ + static_cast<std::int64_t>(static_cast<double>(time - begin_) / rate_);
  }

 private:
  double rate_ = nanoseconds_per_tick();
  std::int64_t begin_ticks_ = clock_ticks();
  std::int64_t begin_ = monotonic_nanoseconds();
};

/// Nanoseconds since 1970, by the system's clock. If a Clock replaces it, 1970 is when that began.
[[nodiscard]] inline std::int64_t wall_clock_nanoseconds() {
  if (const Clock* clock = detail::replaced_clock(); clock != nullptr) return clock->nanoseconds();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace nacre

#endif  // NACRE_BASE_CLOCK_H_
