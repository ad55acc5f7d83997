#include "base/clock.h"

namespace nacre {
namespace {

struct Moment {
  std::int64_t nanoseconds = monotonic_nanoseconds();
  std::int64_t ticks = clock_ticks();
};

const Moment loaded;

}  // namespace

double nanoseconds_per_tick() {
  constexpr std::int64_t nanoseconds_min = 200'000;  // for an error below 1 in 1000
  Moment now;
  while (now.nanoseconds - loaded.nanoseconds < nanoseconds_min) now = Moment();
  return static_cast<double>(now.nanoseconds - loaded.nanoseconds) /
         static_cast<double>(now.ticks - loaded.ticks);
}

}  // namespace nacre
