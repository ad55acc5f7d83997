// A Clock replaces the clocks of the process, and only as long as its replacement exists.
#include "base/clock.h"

#include <cstdint>

#include <doctest/doctest.h>

namespace nacre {
namespace {

class StoppedClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t nanoseconds() const override { return 42; }
};

}  // namespace

TEST_CASE("durations are measured with the clock that replaces the process's") {
  const StoppedClock stopped;
  {
    const ClockReplacement replacement(stopped);
    CHECK(monotonic_nanoseconds() == 42);
    CHECK(clock_ticks() == 42);
    CHECK(nanoseconds_per_tick() == 1);
  }
  CHECK(monotonic_nanoseconds() > 42);
  CHECK(clock_ticks() > 42);
}

}  // namespace nacre
