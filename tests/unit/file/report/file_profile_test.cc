// FileProfile: the calls that count as one plan, and the independent calls that are timed.
#include "file/report/file_profile.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::file {
namespace {

PlanUse use_of(std::int64_t origin, std::int64_t block_bytes) {
  PlanUse use;
  use.direction = plan::Direction::write;
  use.calls = 1;
  use.bytes = 10;
  use.nanoseconds = 100;
  use.plan.algorithm = plan::Algorithm::two_phase;
  use.plan.origin = origin;
  use.plan.end = origin + 2 * block_bytes;
  use.plan.block_bytes = block_bytes;
  return use;
}

}  // namespace

TEST_CASE(
    "plans that differ only in their place in the file count as one and keep the first place") {
  FileProfile profile;
  for (const std::int64_t origin : {100, 200, 300}) profile.note_plan(use_of(origin, 8));
  profile.note_plan(use_of(400, 9));
  PlanUse read = use_of(100, 8);
  read.direction = plan::Direction::read;
  profile.note_plan(read);
  REQUIRE(profile.plans().size() == 3);
  CHECK(profile.plans()[0].calls == 3);
  CHECK(profile.plans()[0].bytes == 30);
  CHECK(profile.plans()[0].nanoseconds == 300);
  CHECK(profile.plans()[0].plan.origin == 100);
  CHECK(profile.plans()[1].calls == 1);
}

TEST_CASE("reads in steps count apart, because their prediction is another one") {
  FileProfile profile;
  PlanUse read = use_of(100, 8);
  read.direction = plan::Direction::read;
  profile.note_plan(read);
  read.in_steps = true;
  for (int i = 0; i < 4; ++i) profile.note_plan(read);
  REQUIRE(profile.plans().size() == 2);
  CHECK(profile.plans()[0].calls == 1);
  CHECK(profile.plans()[1].calls == 4);
}

TEST_CASE("the number of stored plans is bounded") {
  FileProfile profile;
  for (std::int64_t i = 1; i <= 20; ++i) profile.note_plan(use_of(0, i));
  profile.note_plan(use_of(0, 1));
  CHECK(profile.plans().size() == FileProfile::plans_max);
  CHECK(profile.plans().front().calls == 2);
  CHECK(profile.other_plan_calls() == 20 - static_cast<std::int64_t>(FileProfile::plans_max));
}

TEST_CASE("large calls and the first calls are all timed; small calls are sampled") {
  collective::Profile profile;
  for (int i = 0; i < 32; ++i) CHECK(count_call(profile, 4, independent_sampling) == 1);
  constexpr int calls = 100'000;
  std::int64_t weights = 0;
  for (int i = 0; i < calls; ++i) weights += count_call(profile, 4, independent_sampling);
  CHECK(weights > calls * 99 / 100);
  CHECK(weights < calls * 101 / 100);
  CHECK(count_call(profile, 1 << 20, independent_sampling) == 1);
  CHECK(profile.calls.get() == calls + 33);
}

TEST_CASE("slow calls are all timed") {
  collective::Profile profile;
  for (int i = 0; i < 1000; ++i) {
    CHECK(count_call(profile, 4, independent_sampling) == 1);
    profile.note_timed_call(independent_sampling.slow_nanoseconds * 2);
  }
}

TEST_CASE("a program with a periodic sequence of calls is sampled evenly") {
  for (const int period : {2, 3, 8, 31, 32, 33, 64}) {
    CAPTURE(period);
    collective::Profile profile;
    std::vector<std::int64_t> weights(static_cast<std::size_t>(period));
    const int rounds = 10'000;
    for (int i = 0; i < rounds * period; ++i) {
      weights[static_cast<std::size_t>(i % period)] += count_call(profile, 4, independent_sampling);
    }
    for (const std::int64_t weight : weights) {
      CHECK(weight > rounds / 2);
      CHECK(weight < rounds * 2);
    }
  }
}

}  // namespace nacre::file
