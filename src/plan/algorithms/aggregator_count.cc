#include "plan/algorithms/aggregator_count.h"

#include <algorithm>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/algorithms/rounds.h"

namespace nacre::plan {

std::int32_t aggregator_count_max(const CollectiveSettings& settings,
                                  const Participants& participants) {
  const Thresholds& thresholds = settings.thresholds();
  const std::int64_t by_nodes =
      std::int64_t{participants.node_count} * thresholds.aggregators_per_node_max;
  return checked_cast<std::int32_t>(
      std::min({thresholds.aggregator_count_max, by_nodes, std::int64_t{participants.rank_count}}));
}

/// Where writers take turns, two are fastest for interleaved pieces: one gathers while the other
/// writes, and their cycle buffers fit into the caches (bt, 16 ranks on one node, 64 MiB: 29 ms
/// with one, 25 with 2, 27 with 4 and 31 with 8 aggregators).
static bool two_suffice(const PlanInputs& inputs) {
  return inputs.settings.one_writer_per_node && inputs.participants.direction == Direction::write &&
         inputs.summary.is_interleaved();
}

AggregatorCount count_aggregators(const PlanInputs& inputs) {
  const CollectiveSettings& settings = inputs.settings;
  const Participants& participants = inputs.participants;
  const std::int64_t given = inputs.aggregator_count;
  const std::int64_t ranks = participants.rank_count;
  if (settings.aggregator_count > 0) {
    return {std::min<std::int64_t>(settings.aggregator_count, ranks), CountReason::hint};
  }
  if (given > 0) return {std::min(given, ranks), CountReason::cost};
  const std::int64_t saturated =
      aggregators_for(inputs.summary.distinct_bytes(), settings.saturation());
  std::int64_t most = aggregator_count_max(settings, participants);
  if (two_suffice(inputs)) most = std::min<std::int64_t>(most, 2);
  if (saturated <= most) return {saturated, CountReason::saturation};
  return {most, most == ranks ? CountReason::ranks : CountReason::most};
}

AggregatorCount count_groups(const PlanInputs& inputs) {
  CountReason reason = CountReason::groups;
  if (inputs.aggregator_count > 0) reason = CountReason::cost;
  if (inputs.settings.aggregator_count > 0) reason = CountReason::hint;
  return {inputs.groups->count(), reason};
}

void set_count(CollectivePlan& plan, const AggregatorCount& count) {
  plan.aggregator_count = checked_cast<std::int32_t>(count.count);
  plan.count_reason = count.reason;
}

void expect_groups(CollectivePlan& plan, const PlanInputs& inputs) {
  set_count(plan, count_aggregators(inputs));
  const std::int64_t share = divide_up(inputs.summary.bytes, plan.aggregator_count);
  plan.cycle_bytes = std::min(wanted_cycle_bytes(inputs.settings, inputs.summary.bounds), share);
  plan.round_count = divide_up(share, plan.cycle_bytes);
}

GroupTarget group_target(const CollectiveSettings& settings, const Participants& participants,
                         std::int64_t given) {
  const std::int64_t count = settings.aggregator_count > 0 ? settings.aggregator_count : given;
  return {settings.saturation(), checked_cast<std::int32_t>(count),
          aggregator_count_max(settings, participants)};
}

}  // namespace nacre::plan
