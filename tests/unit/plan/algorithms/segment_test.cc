// In the arranged file, every member of a group has its bytes in its own part of each round, in the
// order of its access. No two members share a position.
#include "plan/algorithms/segment.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/algorithm_table.h"
#include "plan/domains/domain_walk.h"

namespace nacre::plan {

TEST_CASE("segments of a group do not overlap, and rounds process them in order") {
  const RankGroups groups(std::vector<std::int32_t>{2, 0, 1, 3}, std::vector<std::int32_t>{0, 3});
  AccessSummary summary;
  summary.bytes_max = 100;
  CollectivePlan plan;
  plan.algorithm = Algorithm::static_segmentation;
  const CollectiveSettings settings{.cycle_bytes = 32, .alignment_bytes = 1};
  const Participants participants;
  static_segmentation_row.lay_out(plan, {summary, settings, participants, &groups});
  CHECK(plan.aggregator_count == 2);
  CHECK(plan.cycle_bytes == 32);
  CHECK(plan.round_count == 10);
  CHECK(segment_of(plan, groups, 2) == Extent{0, 10});
  CHECK(segment_of(plan, groups, 0) == Extent{10, 10});
  CHECK(segment_of(plan, groups, 1) == Extent{20, 10});
  CHECK(segment_of(plan, groups, 3) == Extent{0, 32});
  for (const int rank : {0, 1, 2, 3}) {
    const Extent segment = segment_of(plan, groups, rank);
    std::int64_t position = 0;
    std::vector<RoundPiece> pieces;
    const FileDomains domains = domains_of(plan, {});
    for (DomainWalk walk(domains, 0, arranged(plan, groups, rank, 95)); !walk.done();) {
      CHECK(walk.round() == position / segment.length);
      const std::int64_t bytes = walk.take_round(pieces);
      REQUIRE(pieces.size() == 1);
      CHECK(pieces[0].first_byte == position);
      CHECK(bytes == std::min(segment.length, 95 - position));
      const FileAccess access = arranged(plan, groups, rank, 95);
      CHECK(offset_of(access.view, position) - pieces[0].origin == segment.offset);
      position += bytes;
    }
    CHECK(position == 95);
  }
}

TEST_CASE("a cycle has at least one byte per member") {
  const RankGroups groups(std::vector<std::int32_t>{0, 1, 2, 3, 4}, std::vector<std::int32_t>{0});
  AccessSummary summary;
  summary.bytes_max = 7;
  CollectivePlan plan;
  plan.algorithm = Algorithm::static_segmentation;
  const CollectiveSettings settings{.cycle_bytes = 2, .alignment_bytes = 1};
  const Participants participants;
  static_segmentation_row.lay_out(plan, {summary, settings, participants, &groups});
  CHECK(plan.cycle_bytes == 5);
  CHECK(plan.round_count == 7);
  CHECK(plan.end == 35);
}

}  // namespace nacre::plan
