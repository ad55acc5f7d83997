// Which algorithm carries out a collective access, and why.
#ifndef NACRE_PLAN_DECIDE_CANDIDATES_H_
#define NACRE_PLAN_DECIDE_CANDIDATES_H_

#include "plan/call/access_summary.h"
#include "plan/call/algorithm.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"

namespace nacre::plan {

/// An algorithm and the rule that chose it.
struct Candidate {
  Algorithm algorithm;
  PlanReason reason;
};

/// The algorithm for a collective access: what a hint asks for, if the views allow it, else what
/// the length, the interleaving and the place of the ranks' pieces call for.
[[nodiscard]] Candidate choose_algorithm(const AccessSummary& summary,
                                         const CollectiveSettings& settings,
                                         const Participants& participants);

/// Whether the rank of `own` moves its bytes by itself whatever the other ranks bring, so that it
/// need not wait for the decision: its pieces are so long that an exchange costs more than it
/// saves, there is no other rank, or a hint asks for it.
[[nodiscard]] bool moves_by_itself(const AccessSummary& own, const CollectiveSettings& settings,
                                   const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_CANDIDATES_H_
