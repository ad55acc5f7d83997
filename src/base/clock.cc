#include "base/clock.h"

#include <atomic>

namespace nacre {
namespace {

struct Moment {
  std::int64_t nanoseconds = monotonic_nanoseconds();
  std::int64_t ticks = clock_ticks();
};

const Moment loaded;

}  // namespace

double nanoseconds_per_tick() {
  if (detail::replaced_clock() != nullptr) return 1;
  constexpr std::int64_t once_ns = 200'000;        // an error below 1 in 1000
  constexpr std::int64_t settled_ns = 10'000'000;  // below 1 in 100,000
  static std::atomic<double> settled = 0;
  if (const double rate = settled.load(std::memory_order_relaxed); rate != 0) return rate;
  Moment now;
  while (now.nanoseconds - loaded.nanoseconds < once_ns) now = Moment();
  const std::int64_t since_loaded_ns = now.nanoseconds - loaded.nanoseconds;
  const double rate =
      static_cast<double>(since_loaded_ns) / static_cast<double>(now.ticks - loaded.ticks);
  if (since_loaded_ns >= settled_ns) settled.store(rate, std::memory_order_relaxed);
  return rate;
}

}  // namespace nacre
