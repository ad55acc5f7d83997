// The decision: from what ranks bring, hints and layout to the plan of a collective access.
#ifndef NACRE_PLAN_DECIDE_DECIDE_H_
#define NACRE_PLAN_DECIDE_DECIDE_H_

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"

namespace nacre::plan {

/// Pure: equal arguments give equal plans. A plan whose algorithm needs groups is complete only
/// after complete_with_groups().
[[nodiscard]] CollectivePlan decide(const AccessSummary& summary,
                                    const CollectiveSettings& settings,
                                    const Participants& participants);

/// `inputs.groups` is not null.
void complete_with_groups(CollectivePlan& plan, const PlanInputs& inputs);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_DECIDE_H_
