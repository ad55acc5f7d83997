#include "plan/decide/decide.h"

#include <memory>

#include "base/checked_cast.h"
#include "machine/machine_file.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/candidates.h"
#include "plan/decide/choice.h"
#include "plan/decide/cost_model.h"
#include "plan/decide/write_locks.h"

namespace nacre::plan {

CollectivePlan decide_by_rules(const PlanInputs& inputs) {
  return laid_out(choose_algorithm(inputs), inputs);
}

namespace {

/// The plan of the choice that is kept for such calls, or that of a new one, which is then kept.
Choice compared(const PlanInputs& inputs, ChoiceMemory* memory) {
  CallShape shape;
  if (memory != nullptr) {
    shape = shape_of(inputs.summary, inputs.settings, inputs.participants);
    if (const Choice* const known = memory->find(shape)) return *known;
  }
  std::vector<PredictedPlan> plans =
      compared_plans(inputs.summary, inputs.settings, inputs.participants);
  if (plans.empty()) {
    const Choice choice{choose_algorithm(inputs)};
    if (memory != nullptr) memory->keep(shape, choice);
    return choice;
  }
  const Figures figures = figures_of(inputs.settings);
  std::size_t chosen = choose(plans, inputs.participants.direction, figures);
  if (memory != nullptr) {
    chosen = memory->steadied(shape, plans, chosen, figures);
    memory->keep(shape, plans, chosen);
  }
  return choice_of(plans[chosen]);
}

bool have_same_domains(const CollectivePlan& a, const CollectivePlan& b) {
  return a.pattern == b.pattern && a.aggregator_count == b.aggregator_count &&
         a.aggregator_sets == b.aggregator_sets && a.origin == b.origin && a.end == b.end &&
         a.block_bytes == b.block_bytes;
}

/// The choice that leads to the domains of `plan` in another call with the same bounds.
Choice choice_of_domains(const CollectivePlan& plan, const PlanInputs& inputs) {
  Choice choice{{plan.algorithm, PlanReason::cached}, plan.aggregator_count, {plan.pattern}};
  const StripedRegion* const region = inputs.settings.main_region_of(inputs.summary.bounds);
  if (plan.pattern == DomainPattern::stripes && region != nullptr) {
    choice.domains.stripes = checked_cast<std::int32_t>(plan.block_bytes / region->stripe_size);
  }
  return choice;
}

/// The plan of a read from the caches of the aggregators that wrote the bytes, if it is faster than
/// `plan`. A client of Lustre keeps what it has written, and the locks on it; a reader on another
/// node takes these locks from it, and waits until it has written back. On one node all readers
/// have the same cache.
CollectivePlan from_caches(const CollectivePlan& plan, const PlanInputs& inputs,
                           const ChoiceMemory& memory) {
  constexpr std::int64_t cached_bytes_max = 1 << 30;  // of an aggregator
  const CollectiveSettings& settings = inputs.settings;
  if (settings.machine == nullptr || !settings.keeps_written) return plan;
  if (inputs.participants.node_count == 1 || plan.reason == PlanReason::observed) return plan;
  const CollectivePlan* const written = memory.write_of(inputs.summary.bounds);
  if (written == nullptr) return plan;
  const Candidate rule = choose_algorithm(inputs);
  if (!may_compare(rule)) return plan;
  if (rule.reason == PlanReason::hint && rule.algorithm != written->algorithm) return plan;
  if (inputs.summary.bytes / written->aggregator_count > cached_bytes_max) return plan;
  const CollectivePlan again = laid_out(choice_of_domains(*written, inputs), inputs);
  if (!have_same_domains(again, *written)) return plan;
  const Prediction cached = predict(again, inputs, BytesIn::caches);
  return cached.seconds < predict(plan, inputs).seconds ? again : plan;
}

}  // namespace

CollectivePlan decide(const AccessSummary& summary, const CollectiveSettings& settings,
                      const Participants& participants, ChoiceMemory* memory) {
  const PlanInputs inputs{summary, settings, participants};
  CollectivePlan plan = laid_out(compared(inputs, memory), inputs);
  if (memory != nullptr && participants.direction == Direction::read) {
    plan = from_caches(plan, inputs, *memory);
  }
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
  const Figures figures = figures_of(settings);
  const CollectivePlan& chosen = plans[choose(plans, participants.direction, figures)].plan;
  std::vector<std::string_view> names;
  for (const machine::WithoutFigure& without : machine::without_each_figure(*settings.machine)) {
    CollectiveSettings changed = settings;
    changed.machine = std::make_shared<const machine::Machine>(without.machine);
    const std::vector<PredictedPlan> others = compared_plans(summary, changed, participants);
    const PredictedPlan& other = others[choose(others, participants.direction, figures)];
    if (!other.is_for(chosen)) names.push_back(without.name);
  }
  return names;
}

}  // namespace nacre::plan
