// The busy time of a resource is kept by interval, however long the job takes.
#include "sim/time/busy_timeline.h"

#include <numeric>

#include <doctest/doctest.h>

namespace nacre::sim {

TEST_CASE("a resource that was never busy has no intervals") {
  const BusyTimeline timeline;
  CHECK(timeline.total() == 0);
  CHECK(timeline.intervals().empty());
}

TEST_CASE("a busy time is divided over the intervals that it touches") {
  BusyTimeline timeline;
  const SimulatedTime length = timeline.interval();
  timeline.add(length / 2, 2 * length + 10);
  CHECK(timeline.intervals()[0] == length / 2);
  CHECK(timeline.intervals()[1] == length);
  CHECK(timeline.intervals()[2] == 10);
  CHECK(timeline.intervals()[3] == 0);
  CHECK(timeline.total() == length / 2 + length + 10);
}

TEST_CASE("intervals become longer with the time, and keep the busy time") {
  BusyTimeline timeline;
  const SimulatedTime first = timeline.interval();
  for (SimulatedTime at = 0; at < 1'000 * first; at += 2 * first) timeline.add(at, at + first);
  CHECK(timeline.interval() == 8 * first);
  CHECK(timeline.intervals().size() == BusyTimeline::interval_count);
  for (std::size_t i = 0; i < 125; ++i) CHECK(timeline.intervals()[i] == 4 * first);
  const auto all = timeline.intervals();
  CHECK(std::accumulate(all.begin(), all.end(), SimulatedTime{0}) == timeline.total());
}

}  // namespace nacre::sim
