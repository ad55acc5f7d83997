// static_segmentation: each aggregator serves a group of ranks. In each round it takes a fixed
// number of bytes from each member, in any order of the file (Chaarawi & Gabriel, IEEE Cluster
// 2011).
#include <algorithm>

#include "base/rounding.h"
#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/rounds.h"

namespace nacre::plan {
namespace {

void lay_out(CollectivePlan& plan, const PlanInputs& inputs) {
  set_count(plan, count_groups(inputs));
  const std::int64_t members = inputs.groups->size_max();
  const std::int64_t bytes_max = inputs.summary.bytes_max;
  const auto cycle_of = [&](std::int64_t bytes_each) {
    return saturating_multiply(members, bytes_each);
  };
  plan.cycle_bytes =
      std::clamp(wanted_cycle_bytes(inputs.settings, inputs.summary.bounds),
                 cycle_of(divide_up(bytes_max, round_count_max)), cycle_of(bytes_max));
  plan.round_count = divide_up(bytes_max, plan.cycle_bytes / members);
  plan.end = saturating_multiply(plan.round_count, plan.cycle_bytes);
  plan.block_bytes = plan.end;
  plan.whole_rounds = true;
  set_cycle_buffers(plan, inputs.settings);
}

}  // namespace

const AlgorithmRow static_segmentation_row{Algorithm::static_segmentation, "static_segmentation",
                                           DomainsOf::groups, RoundOrder::rank, lay_out};

}  // namespace nacre::plan
