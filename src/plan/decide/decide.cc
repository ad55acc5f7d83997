#include "plan/decide/decide.h"

#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/candidates.h"
#include "plan/decide/write_locks.h"

namespace nacre::plan {

CollectivePlan decide(const AccessSummary& summary, const CollectiveSettings& settings,
                      const Participants& participants) {
  const PlanInputs inputs{summary, settings, participants};
  const Candidate chosen = choose_algorithm(inputs);
  CollectivePlan plan;
  plan.algorithm = chosen.algorithm;
  plan.reason = chosen.reason;
  const AlgorithmRow& row = row_of(plan);
  plan.writers_take_turns =
      row.exchanges() && participants.direction == Direction::write && settings.one_writer_per_node;
  if (!row.needs_groups()) row.lay_out(plan, inputs);
  plan.write_locks = write_locks_for(plan, settings, participants);
  return plan;
}

}  // namespace nacre::plan
