// Segments: static segmentation as a matter of place. Imagine a file for each group, the arranged
// file, whose blocks are the group's rounds one after the other; in each block a member has a fixed
// place, its segment, and it puts its bytes there in the order of its own access. Rounds of that
// file are exchanged as those of any other; only the aggregator that brings a round to the real
// file has to know where its bytes belong.
#ifndef NACRE_PLAN_ALGORITHMS_SEGMENT_H_
#define NACRE_PLAN_ALGORITHMS_SEGMENT_H_

#include <cstdint>

#include "base/extent.h"
#include "plan/call/collective_plan.h"
#include "plan/nodes/rank_groups.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

/// The place of `rank` in each of its group's cycle buffers. `plan` is laid out for static
/// segmentation of `groups`.
[[nodiscard]] Extent segment_of(const CollectivePlan& plan, const RankGroups& groups, int rank);

/// The first `byte_count` bytes of an access of `rank`, by their places in the arranged file.
[[nodiscard]] FileAccess arranged(const CollectivePlan& plan, const RankGroups& groups, int rank,
                                  std::int64_t byte_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_SEGMENT_H_
