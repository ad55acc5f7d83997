// The decision: from the ranks' accesses, hints and layout to the plan of a collective access.
#ifndef NACRE_PLAN_DECIDE_DECIDE_H_
#define NACRE_PLAN_DECIDE_DECIDE_H_

#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"

namespace nacre::plan {

/// Pure: equal arguments give equal plans. If the algorithm needs groups, the plan is complete only
/// after AlgorithmRow::lay_out() with groups.
[[nodiscard]] CollectivePlan decide(const AccessSummary& summary,
                                    const CollectiveSettings& settings,
                                    const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_DECIDE_H_
