// dynamic_segmentation: each aggregator serves a group of ranks, and sorts their bytes by their
// place in the file (Chaarawi & Gabriel, IEEE Cluster 2011).
#include "base/rounding.h"
#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/rounds.h"

namespace nacre::plan {
namespace {

void lay_out(CollectivePlan& plan, const PlanInputs& inputs) {
  set_count(plan, count_groups(inputs));
  plan.cycle_bytes = wanted_cycle_bytes(inputs.settings, inputs.summary.bounds);
  const Extent& bounds = inputs.summary.bounds;
  plan.origin = round_down(bounds.offset, inputs.settings.alignment_of(bounds));
  plan.end = bounds.end();
  plan.block_bytes = plan.end - plan.origin;
  fit_rounds_to_domains(plan, inputs.settings);
  set_cycle_buffers(plan, inputs.settings);
}

}  // namespace

const AlgorithmRow dynamic_segmentation_row{Algorithm::dynamic_segmentation, "dynamic_segmentation",
                                            DomainsOf::groups, RoundOrder::file, lay_out};

}  // namespace nacre::plan
