// Timeline: time lies in the interval in which it passed, none is lost when intervals grow longer,
// and the shares of the ranks of a band add up.
#include "collective/profile/timeline.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

constexpr std::int64_t shortest = std::int64_t{1} << Timeline::shortest_log2;

std::int64_t time_of(const Timeline& timeline, Activity activity, std::size_t interval) {
  return timeline.in_intervals_of(
      timeline.interval_log2())[static_cast<std::size_t>(activity)][interval];
}

}  // namespace

TEST_CASE("time that crosses a boundary is divided between the intervals") {
  Timeline timeline;
  timeline.begin(1'000);
  timeline.add(Activity::file, 1'000 + shortest - 300, 1'000 + shortest + 200);
  CHECK(time_of(timeline, Activity::file, 0) == 300);
  CHECK(time_of(timeline, Activity::file, 1) == 200);
  CHECK(time_of(timeline, Activity::wait, 0) == 0);
}

TEST_CASE("time before the origin is left out") {
  Timeline timeline;
  timeline.begin(1'000);
  timeline.add(Activity::file, 0, 500);
  timeline.add(Activity::file, 900, 1'010);
  CHECK(time_of(timeline, Activity::file, 0) == 10);
}

TEST_CASE("a call that stands for several is spread over the time before") {
  Timeline timeline;
  Timeline::CallTimes times{};
  times[static_cast<std::size_t>(Activity::file)] = 60;
  times[static_cast<std::size_t>(Activity::wait)] = 40;
  timeline.add_sample(times, 10 * shortest, shortest / 50);
  std::int64_t file = 0;
  std::int64_t wait = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    file += time_of(timeline, Activity::file, i);
    wait += time_of(timeline, Activity::wait, i);
    CHECK(time_of(timeline, Activity::file, i) + time_of(timeline, Activity::wait, i) <=
          shortest + 1);
  }
  constexpr std::int64_t weight = shortest / 50;
  CHECK(file + wait == doctest::Approx(100.0 * weight));
  CHECK(file == doctest::Approx(60.0 * weight));
  CHECK(time_of(timeline, Activity::file, 7) + time_of(timeline, Activity::wait, 7) == 0);
}

TEST_CASE("a call that stands for several does not overlap the time before") {
  Timeline timeline;
  timeline.add(Activity::wait, 0, 2 * shortest);
  Timeline::CallTimes times{};
  times[static_cast<std::size_t>(Activity::file)] = 100;
  timeline.add_sample(times, 3 * shortest, shortest);
  CHECK(time_of(timeline, Activity::file, 1) == 0);
  CHECK(time_of(timeline, Activity::file, 2) == shortest);
}

TEST_CASE("intervals grow longer as long as the file is open, and no time is lost") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  Timeline timeline;
  std::int64_t now = 0;
  std::int64_t added = 0;
  for (int call = 0; call < 2'000; ++call) {
    now += static_cast<std::int64_t>(random() % (1ULL << (random() % 32)));
    const auto time = static_cast<std::int64_t>(random() % (1ULL << (random() % 32)));
    timeline.add(Activity::copy, now, now + time);
    now += time;
    added += time;
  }
  const int log2 = timeline.interval_log2();
  CHECK(now <= (std::int64_t{Timeline::interval_count} << log2));
  CHECK(now > (std::int64_t{Timeline::interval_count} << (log2 - 1)));
  for (const int longer : {log2, log2 + 1, log2 + 40}) {
    const Timeline::Intervals intervals =
        timeline.in_intervals_of(longer)[static_cast<std::size_t>(Activity::copy)];
    CHECK(std::accumulate(intervals.begin(), intervals.end(), std::int64_t{0}) == added);
  }
}

TEST_CASE("times that passed within an interval can be added as one sum") {
  Timeline timeline;
  timeline.begin(1'000);
  const std::int64_t end = timeline.add(Activity::file, 1'000, 1'000 + shortest + 200);
  CHECK(end == 1'000 + 2 * shortest);
  Timeline::CallTimes times{};
  times[static_cast<std::size_t>(Activity::file)] = 60;
  times[static_cast<std::size_t>(Activity::wait)] = 40;
  timeline.add_within(times, end);
  CHECK(time_of(timeline, Activity::file, 1) == 260);
  CHECK(time_of(timeline, Activity::wait, 1) == 40);
  CHECK(timeline.add(Activity::wait, end, end) == 1'000 + 3 * shortest);
}

TEST_CASE("times before the begin, of a processor whose counter differs, do not count") {
  Timeline timeline;
  timeline.begin(shortest);
  Timeline::CallTimes times{};
  times[static_cast<std::size_t>(Activity::file)] = 60;
  timeline.add_within(times, 0);
  timeline.add_within(times, shortest);
  CHECK(time_of(timeline, Activity::file, 0) == 0);
}

TEST_CASE("the shares of an interval are summed over the ranks of a band") {
  constexpr int rank_count = 40;
  testing::InProcessNetwork network({.rank_count = rank_count});
  const auto reduced_by = [](Transport& transport) -> Task<RankTimelines> {
    Timeline timeline;
    timeline.add(Activity::wait, 0, shortest);
    if (transport.rank() < 3) timeline.add(Activity::file, shortest, 3 * shortest / 2);
    auto reducing = reduce_timelines(transport, timeline, Timeline::shortest_log2 + 1);
    RankTimelines reduced = co_await reducing;
    co_return reduced;
  };
  const auto results = testing::run_polled<RankTimelines>(
      network, [&](int rank) { return reduced_by(network.transport(rank)); }, 3);
  REQUIRE(results.has_value());
  const RankTimelines& reduced = results->front();
  REQUIRE(reduced.permille.size() == 16);
  CHECK(reduced.bands.first_rank(1) == 3);
  const auto of = [&](int band, Activity activity) {
    return reduced.permille[static_cast<std::size_t>(band)][static_cast<std::size_t>(activity)][0];
  };
  CHECK(of(0, Activity::wait) == 3 * 500);
  CHECK(of(0, Activity::file) == 3 * 250);
  CHECK(of(1, Activity::wait) == 2 * 500);
  CHECK(of(1, Activity::file) == 0);
}

}  // namespace nacre::collective
