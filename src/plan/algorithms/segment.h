// Segments: the places of bytes in static segmentation. The arranged file of a group is imaginary:
// its blocks are the rounds of the group. In each block a member of the group has a fixed extent,
// its segment, which holds bytes of the member in the order of its access. The rounds of an
// arranged file are exchanged like the rounds of any file. Only the aggregator, which writes or
// reads a round in the real file, must know where each byte belongs.
#ifndef NACRE_PLAN_ALGORITHMS_SEGMENT_H_
#define NACRE_PLAN_ALGORITHMS_SEGMENT_H_

#include <cstdint>

#include "base/extent.h"
#include "plan/call/collective_plan.h"
#include "plan/nodes/rank_groups.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

/// The segment of `rank` in each cycle buffer of its group. `plan` is a complete plan of static
/// segmentation with `groups`.
[[nodiscard]] Extent segment_of(const CollectivePlan& plan, const RankGroups& groups, int rank);

/// The first `byte_count` bytes of an access of `rank`, at their places in the arranged file.
[[nodiscard]] FileAccess arranged(const CollectivePlan& plan, const RankGroups& groups, int rank,
                                  std::int64_t byte_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_SEGMENT_H_
