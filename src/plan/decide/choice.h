// The choice among plans by their predicted times.
#ifndef NACRE_PLAN_DECIDE_CHOICE_H_
#define NACRE_PLAN_DECIDE_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/collective_plan.h"
#include "plan/decide/candidates.h"
#include "plan/decide/cost_model.h"

namespace nacre::plan {

struct PredictedPlan {
  CollectivePlan plan;
  Prediction prediction;
  // The PlanInputs with which it was laid out.
  std::int64_t aggregator_count = 0;
  DomainChoice domains = {};
  double caution = 1;  ///< by which the predicted time counts as longer

  /// Whether the choice makes no difference between its plan and `other`.
  [[nodiscard]] bool is_for(const CollectivePlan& other) const {
    return plan.algorithm == other.algorithm && plan.aggregator_count == other.aggregator_count &&
           plan.pattern == other.pattern &&
           (plan.pattern != DomainPattern::stripes || plan.block_bytes == other.block_bytes);
  }
};

/// The plans that decide() compares: the plan of `rule` first, then those that differ in algorithm,
/// number of aggregators or domains, as far as the hints leave it open. At most about 60, each
/// once. `inputs.settings.machine` is not null, and `inputs.groups` is null.
[[nodiscard]] std::vector<PredictedPlan> compare_plans(const Candidate& rule,
                                                       const PlanInputs& inputs);

/// What is known of the storage.
enum class Figures : std::uint8_t {
  measured,
  of_class,  ///< the links, servers and OSTs may be far slower than the figures say
};
[[nodiscard]] Figures figures_of(const CollectiveSettings& settings);

/// The score of a plan; the lowest is best. It is the predicted seconds, plus a small part of the
/// time that each resource is busy, times the plan's caution. With figures of a class, it also
/// depends on the time on a far slower storage.
[[nodiscard]] double score_of(const PredictedPlan& one, Figures figures);

/// The number of the chosen plan. The first plan follows rules that were measured, so it is chosen
/// unless another one is predicted to be clearly faster, or a bit faster with no resource busier.
/// Among plans that are about equally fast, the one that keeps its resources least busy is chosen,
/// and one with an aggregator for each OST rather than one with fewer.
[[nodiscard]] std::size_t choose(const std::vector<PredictedPlan>& plans, Direction direction,
                                 Figures figures = Figures::measured);

/// A choice without the place in the file.
struct Choice {
  Candidate candidate;
  std::int64_t aggregator_count = 0;  ///< 0: as many as the rules say
  DomainChoice domains = {};
};
[[nodiscard]] Choice choice_of(const PredictedPlan& one);
/// The plan of a choice for a call.
[[nodiscard]] CollectivePlan laid_out(const Choice& choice, const PlanInputs& inputs);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_CHOICE_H_
