// FileProfile: the calls that count as one plan.
#include "file/report/file_profile.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::file {
namespace {

PlanUse use_of(std::int64_t origin, std::int64_t block_bytes) {
  PlanUse use;
  use.direction = plan::Direction::write;
  use.bytes = 10;
  use.ticks = 100;
  use.plan.algorithm = plan::Algorithm::two_phase;
  use.plan.origin = origin;
  use.plan.end = origin + 2 * block_bytes;
  use.plan.block_bytes = block_bytes;
  return use;
}

PlanUse* note(FileProfile& profile, const PlanUse& use) {
  return profile.note_plan({.direction = use.direction,
                            .plan = use.plan,
                            .in_steps = use.in_steps,
                            .groups = use.groups,
                            .summary = use.summary,
                            .saturation_bytes = use.saturation_bytes,
                            .bytes = use.bytes,
                            .ticks = use.ticks});
}

}  // namespace

TEST_CASE(
    "plans that differ only in their place in the file count as one and keep the first place") {
  FileProfile profile;
  for (const std::int64_t origin : {100, 200, 300}) note(profile, use_of(origin, 8));
  note(profile, use_of(400, 9));
  PlanUse read = use_of(100, 8);
  read.direction = plan::Direction::read;
  note(profile, read);
  REQUIRE(profile.plans().size() == 3);
  CHECK(profile.plans()[0].calls == 3);
  CHECK(profile.plans()[0].bytes == 30);
  CHECK(profile.plans()[0].ticks == 300);
  CHECK(profile.plans()[0].plan.origin == 100);
  CHECK(profile.plans()[1].calls == 1);
}

TEST_CASE("reads in steps count apart, because their prediction is another one") {
  FileProfile profile;
  PlanUse read = use_of(100, 8);
  read.direction = plan::Direction::read;
  note(profile, read);
  read.in_steps = true;
  for (int i = 0; i < 4; ++i) note(profile, read);
  REQUIRE(profile.plans().size() == 2);
  CHECK(profile.plans()[0].calls == 1);
  CHECK(profile.plans()[1].calls == 4);
}

TEST_CASE("the calls that represent a plan are those whose numbers are powers of two") {
  FileProfile profile;
  std::vector<std::int64_t> representing;
  for (std::int64_t i = 1; i <= 20; ++i) {
    const PlanUse* const noted = note(profile, use_of(8 * i, 8));
    REQUIRE(noted != nullptr);
    if (noted->represents_calls()) representing.push_back(i);
  }
  CHECK(representing == std::vector<std::int64_t>{1, 2, 4, 8, 16});
}

TEST_CASE("the number of stored plans is bounded") {
  FileProfile profile;
  for (std::int64_t i = 1; i <= 20; ++i) note(profile, use_of(0, i));
  note(profile, use_of(0, 1));
  CHECK(profile.plans().size() == FileProfile::plans_max);
  CHECK(profile.plans().front().calls == 2);
  CHECK(profile.other_plan_calls() == 20 - static_cast<std::int64_t>(FileProfile::plans_max));
}

}  // namespace nacre::file
