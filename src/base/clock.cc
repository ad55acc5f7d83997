#include "base/clock.h"

#include <atomic>
#include <limits>

namespace nacre {
namespace {

/// What both clocks show at the same time.
struct Moment {
  std::int64_t nanoseconds = 0;
  std::int64_t ticks = 0;
};

/// A thread may lose its core between the readings, so the closest of several pairs counts.
Moment read_both_clocks() {
  constexpr int attempts = 4;
  Moment closest;
  std::int64_t smallest_gap = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::int64_t before = clock_ticks();
    const std::int64_t nanoseconds = monotonic_nanoseconds();
    const std::int64_t gap = clock_ticks() - before;
    if (gap >= smallest_gap) continue;
    smallest_gap = gap;
    closest = {nanoseconds, before + (gap / 2)};
  }
  return closest;
}

const Moment loaded = read_both_clocks();

}  // namespace

double nanoseconds_per_tick() {
  if (is_clock_replaced()) return 1;
  constexpr std::int64_t once_ns = 200'000;        // an error below 1 in 1000
  constexpr std::int64_t settled_ns = 10'000'000;  // below 1 in 100,000
  static std::atomic<double> settled = 0;
  if (const double rate = settled.load(std::memory_order_relaxed); rate != 0) return rate;
  Moment now = read_both_clocks();
  while (now.nanoseconds - loaded.nanoseconds < once_ns) now = read_both_clocks();
  const std::int64_t since_loaded_ns = now.nanoseconds - loaded.nanoseconds;
  const double rate =
      static_cast<double>(since_loaded_ns) / static_cast<double>(now.ticks - loaded.ticks);
  if (since_loaded_ns >= settled_ns) settled.store(rate, std::memory_order_relaxed);
  return rate;
}

}  // namespace nacre
