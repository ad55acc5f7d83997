#include "plan/algorithms/segment.h"

#include <utility>

namespace nacre::plan {

Extent segment_of(const CollectivePlan& plan, const RankGroups& groups, int rank) {
  const std::int64_t members = groups.size_of(groups.group_of(rank));
  const std::int64_t bytes = plan.cycle_bytes / members;
  return {groups.place_of(rank) * bytes, bytes};
}

FileAccess arranged(const CollectivePlan& plan, const RankGroups& groups, int rank,
                    std::int64_t byte_count) {
  const Extent segment = segment_of(plan, groups, rank);
  // A cycle is as long as its segments together, so this is a type.
  TypeMap type = TypeMap::bytes(segment.length).resized(0, plan.cycle_bytes).value();
  return {{std::move(type), segment.offset}, 0, byte_count};
}

}  // namespace nacre::plan
