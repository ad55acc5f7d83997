// How many aggregators a collective access gets, before its domains limit the number.
#ifndef NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_
#define NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_

#include <cstdint>

#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/nodes/grouping.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

struct AggregatorCount {
  std::int64_t count;
  CountReason reason;
};

/// The largest number of aggregators that pays: bounded by ranks, by nodes and by the file system.
[[nodiscard]] std::int32_t aggregator_count_max(const CollectiveSettings& settings,
                                                const Participants& participants);
/// cb_nodes, else as many as the bytes saturate (Chaarawi & Gabriel, IEEE Cluster 2011), at most
/// aggregator_count_max().
[[nodiscard]] AggregatorCount count_aggregators(const AccessSummary& summary,
                                                const CollectiveSettings& settings,
                                                const Participants& participants);
/// One for each group of ranks.
[[nodiscard]] AggregatorCount count_groups(const RankGroups& groups,
                                           const CollectiveSettings& settings);
void set_count(CollectivePlan& plan, const AggregatorCount& count);
/// The sizes and the number of groups that ranks are to be divided into.
[[nodiscard]] GroupTarget group_target(const CollectiveSettings& settings,
                                       const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_
