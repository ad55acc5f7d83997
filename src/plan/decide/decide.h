// The decision: from the ranks' accesses, hints and layout to the plan of a collective access.
#ifndef NACRE_PLAN_DECIDE_DECIDE_H_
#define NACRE_PLAN_DECIDE_DECIDE_H_

#include <string_view>
#include <vector>

#include "plan/call/access_summary.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/decide/choice.h"
#include "plan/decide/choice_memory.h"

namespace nacre::plan {

/// Pure: equal arguments give equal plans. If the algorithm needs groups, the plan is complete only
/// after AlgorithmRow::lay_out() with groups.
/// Equal calls are compared once if there is a memory.
[[nodiscard]] CollectivePlan decide(const AccessSummary& summary,
                                    const CollectiveSettings& settings,
                                    const Participants& participants,
                                    ChoiceMemory* memory = nullptr);

/// The plan of the rules alone. Equal to that of decide() if no plan is clearly faster.
[[nodiscard]] CollectivePlan decide_by_rules(const PlanInputs& inputs);

/// The plan of a call in which all ranks have moved their bytes before they met: direct.
[[nodiscard]] CollectivePlan plan_of_moved(const PlanInputs& inputs, ChoiceMemory* memory);

/// The plans that decide() compares for these arguments, with their predicted times; none if there
/// is no choice.
[[nodiscard]] std::vector<PredictedPlan> compared_plans(const AccessSummary& summary,
                                                        const CollectiveSettings& settings,
                                                        const Participants& participants);

/// The figures of the machine file without which another plan would be chosen, as "SECTION.KEY".
/// None if there is no choice.
[[nodiscard]] std::vector<std::string_view> deciding_figures(const AccessSummary& summary,
                                                             const CollectiveSettings& settings,
                                                             const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_DECIDE_H_
