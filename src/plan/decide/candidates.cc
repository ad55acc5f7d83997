#include "plan/decide/candidates.h"

#include "machine/machine.h"
#include "plan/algorithms/aggregator_count.h"

namespace nacre::plan {
namespace {

bool has_large_pieces(const PlanInputs& inputs) {
  return inputs.summary.bytes / inputs.summary.run_count >=
         inputs.settings.thresholds().large_run_bytes;
}

/// Whether pieces of several nodes in one object cost more than their bytes. Lustre locks objects
/// for nodes: if pieces of several nodes interleave, each piece takes the lock from another node,
/// which must write back first: on the testbed some 14,000 times per GiB with pieces of 47 KB, and
/// never with domains of whole objects. CephFS lets no node cache a file that several nodes write:
/// each piece is a request to an OSD that the writer waits for (60 MiB in pieces of 47 KB from 2
/// clients: 25 s, by OMPIO's aggregators 5 s).
bool share_objects(const PlanInputs& inputs) {
  return inputs.settings.stripes != nullptr && inputs.participants.node_count > 1;
}

/// Whether one aggregator may write faster than several ranks, which spin for the lock of the file.
bool may_take_turns(const PlanInputs& inputs) {
  const CollectiveSettings& settings = inputs.settings;
  return inputs.participants.direction == Direction::write && settings.machine != nullptr &&
         settings.machine->one_writer != 0;
}

/// Whether several nodes write to the same object: their pieces interleave, or the ranks of a node
/// have less than a stripe. Nodes that read an object share its lock.
bool write_same_objects(const PlanInputs& inputs) {
  const AccessSummary& summary = inputs.summary;
  const bool is_read = inputs.participants.direction == Direction::read;
  if (is_read || !share_objects(inputs) || summary.node_count() <= 1) return false;
  return summary.is_interleaved() ||
         summary.span_bytes / summary.node_count() <
             inputs.settings.stripes->main_region(summary.bounds).unit_bytes();
}

}  // namespace

Candidate choose_algorithm(const PlanInputs& inputs) {
  const CollectiveSettings& settings = inputs.settings;
  const AccessSummary& summary = inputs.summary;
  const Participants& participants = inputs.participants;
  if (summary.bytes == 0) return {Algorithm::direct, PlanReason::no_data};
  if (!summary.monotone) return {Algorithm::direct, PlanReason::unordered_view};
  if (settings.algorithm != Algorithm::automatic) return {settings.algorithm, PlanReason::hint};
  if (participants.rank_count == 1 || summary.rank_count == 1) {
    return {Algorithm::direct, PlanReason::single_rank};
  }
  if (!has_large_pieces(inputs)) {
    return {Algorithm::two_phase,
            summary.is_interleaved() ? PlanReason::interleaved : PlanReason::small_pieces};
  }
  if (write_same_objects(inputs)) {
    return {Algorithm::two_phase, PlanReason::shared_objects};
  }
  return {Algorithm::direct, PlanReason::large_pieces};
}

bool may_compare(const Candidate& rule) {
  return rule.reason != PlanReason::no_data && rule.reason != PlanReason::unordered_view &&
         rule.reason != PlanReason::single_rank;
}

CollectivePlan laid_out(const Candidate& candidate, const PlanInputs& inputs) {
  CollectivePlan plan;
  plan.algorithm = candidate.algorithm;
  plan.reason = candidate.reason;
  const AlgorithmRow& row = row_of(plan);
  plan.writers_take_turns = row.exchanges() && inputs.participants.direction == Direction::write &&
                            inputs.settings.one_writer_per_node;
  if (row.needs_groups() && inputs.groups == nullptr) {
    expect_groups(plan, inputs);
  } else {
    row.lay_out(plan, inputs);
  }
  return plan;
}

bool moves_by_itself(const PlanInputs& own) {
  if (own.summary.bytes == 0) return false;
  if (own.settings.algorithm != Algorithm::automatic) {
    return !row_of(own.settings.algorithm).exchanges();
  }
  if (own.participants.rank_count == 1) return true;
  return has_large_pieces(own) && !share_objects(own) && !may_take_turns(own);
}

}  // namespace nacre::plan
