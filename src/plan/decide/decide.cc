#include "plan/decide/decide.h"

#include <memory>

#include "machine/machine_file.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/candidates.h"
#include "plan/decide/choice.h"
#include "plan/decide/write_locks.h"

namespace nacre::plan {

CollectivePlan decide_by_rules(const PlanInputs& inputs) {
  return laid_out(choose_algorithm(inputs), inputs);
}

namespace {

CollectivePlan compared(const PlanInputs& inputs, ChoiceMemory* memory) {
  CallShape shape;
  if (memory != nullptr) {
    shape = shape_of(inputs.summary, inputs.settings, inputs.participants);
    if (const Choice* const known = memory->find(shape)) return laid_out(*known, inputs);
  }
  std::vector<PredictedPlan> plans =
      compared_plans(inputs.summary, inputs.settings, inputs.participants);
  if (plans.empty()) {
    const CollectivePlan plan = decide_by_rules(inputs);
    if (memory != nullptr) memory->keep(shape, Choice{{plan.algorithm, plan.reason}});
    return plan;
  }
  std::size_t chosen = choose(plans, inputs.participants.direction);
  if (memory != nullptr) {
    chosen = memory->steadied(shape, plans, chosen);
    memory->keep(shape, plans, chosen);
  }
  return plans[chosen].plan;
}

}  // namespace

CollectivePlan decide(const AccessSummary& summary, const CollectiveSettings& settings,
                      const Participants& participants, ChoiceMemory* memory) {
  CollectivePlan plan = compared({summary, settings, participants}, memory);
  plan.write_locks = write_locks_for(plan, settings, participants);
  return plan;
}

CollectivePlan plan_of_moved(const PlanInputs& inputs, ChoiceMemory* memory) {
  const auto is_direct = [](const CollectivePlan& plan) { return !row_of(plan).exchanges(); };
  if (memory != nullptr) {
    const CallShape shape = shape_of(inputs.summary, inputs.settings, inputs.participants);
    const Choice* const known = memory->find(shape);
    if (known != nullptr) {
      const CollectivePlan plan = laid_out(*known, inputs);
      if (is_direct(plan)) return plan;
    }
  }
  const CollectivePlan plan = decide_by_rules(inputs);
  if (is_direct(plan)) return plan;
  return {.algorithm = Algorithm::direct, .reason = PlanReason::cost};
}

std::vector<PredictedPlan> compared_plans(const AccessSummary& summary,
                                          const CollectiveSettings& settings,
                                          const Participants& participants) {
  const PlanInputs inputs{summary, settings, participants};
  const Candidate rule = choose_algorithm(inputs);
  if (settings.machine == nullptr || !may_compare(rule)) return {};
  return compare_plans(rule, inputs);
}

std::vector<std::string_view> deciding_figures(const AccessSummary& summary,
                                               const CollectiveSettings& settings,
                                               const Participants& participants) {
  const std::vector<PredictedPlan> plans = compared_plans(summary, settings, participants);
  if (plans.empty()) return {};
  const CollectivePlan& chosen = plans[choose(plans, participants.direction)].plan;
  std::vector<std::string_view> names;
  for (const machine::WithoutFigure& without : machine::without_each_figure(*settings.machine)) {
    CollectiveSettings changed = settings;
    changed.machine = std::make_shared<const machine::Machine>(without.machine);
    const std::vector<PredictedPlan> others = compared_plans(summary, changed, participants);
    const PredictedPlan& other = others[choose(others, participants.direction)];
    if (!other.is_for(chosen)) names.push_back(without.name);
  }
  return names;
}

}  // namespace nacre::plan
