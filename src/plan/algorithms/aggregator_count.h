// The number of aggregators of a collective access, before its domains limit it.
#ifndef NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_
#define NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_

#include <cstdint>

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/nodes/grouping.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

struct AggregatorCount {
  std::int64_t count;
  CountReason reason;
};

/// The largest useful number of aggregators: ranks, nodes and the file system limit it.
[[nodiscard]] std::int32_t aggregator_count_max(const CollectiveSettings& settings,
                                                const Participants& participants);
/// cb_nodes if it is set; otherwise as many as the bytes saturate (Chaarawi & Gabriel, IEEE Cluster
/// 2011), at most aggregator_count_max().
[[nodiscard]] AggregatorCount count_aggregators(const PlanInputs& inputs);
/// One aggregator per group of ranks.
[[nodiscard]] AggregatorCount count_groups(const PlanInputs& inputs);
void set_count(CollectivePlan& plan, const AggregatorCount& count);
/// Sets what is expected of aggregators and rounds before the groups of ranks are known.
void expect_groups(CollectivePlan& plan, const PlanInputs& inputs);
/// The wanted size and number of groups of ranks. `given`: PlanInputs::aggregator_count.
[[nodiscard]] GroupTarget group_target(const CollectiveSettings& settings,
                                       const Participants& participants, std::int64_t given);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_AGGREGATOR_COUNT_H_
