// The algorithm for a collective access, and the reason.
#ifndef NACRE_PLAN_DECIDE_CANDIDATES_H_
#define NACRE_PLAN_DECIDE_CANDIDATES_H_

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/collective_plan.h"

namespace nacre::plan {

/// An algorithm and the rule that chose it.
struct Candidate {
  Algorithm algorithm;
  PlanReason reason;
};

/// The algorithm that a hint sets, if the views allow it. Otherwise the length, the interleaving
/// and the place of the ranks' pieces decide.
[[nodiscard]] Candidate choose_algorithm(const PlanInputs& inputs);

/// Whether another plan could be better than that of `rule`: views and data leave a choice.
[[nodiscard]] bool may_compare(const Candidate& rule);

/// The plan of a candidate. If the algorithm needs groups, it is complete only after
/// AlgorithmRow::lay_out() with groups.
[[nodiscard]] CollectivePlan laid_out(const Candidate& candidate, const PlanInputs& inputs);

/// Whether a rank accesses its bytes by itself whatever the other ranks access, so that it need not
/// wait for the decision: its pieces are so long that an exchange costs more than it saves, there
/// is no other rank, or a hint sets such an algorithm. `own.summary` is the summary of this rank
/// alone.
[[nodiscard]] bool moves_by_itself(const PlanInputs& own);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_CANDIDATES_H_
