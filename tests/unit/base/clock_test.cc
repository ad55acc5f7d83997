// A Clock replaces the clocks of the process, and only as long as its replacement exists.
#include "base/clock.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

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
    CHECK(wall_clock_nanoseconds() == 42);
    CHECK(nanoseconds_per_tick() == 1);
  }
  CHECK(monotonic_nanoseconds() > 42);
  CHECK(clock_ticks() > 42);
}

TEST_CASE("a scale converts between ticks and nanoseconds") {
  const std::int64_t before = monotonic_nanoseconds();
  const TickScale scale;
  const std::int64_t begin = scale.time_at(scale.begin());
  CHECK(begin >= before);
  CHECK(begin <= monotonic_nanoseconds());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t shown = scale.time_at(clock_ticks());
  CHECK(shown - begin >= 19'000'000);
  CHECK(shown <= monotonic_nanoseconds() + 1'000'000);
  CHECK(scale.nanoseconds(clock_ticks() - scale.begin()) >= shown - begin);
  CHECK(std::abs(scale.time_at(scale.ticks_at(begin + 5'000)) - begin - 5'000) <= 1);
}

}  // namespace nacre
