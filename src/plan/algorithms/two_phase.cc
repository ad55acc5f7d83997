// two_phase: each aggregator has a domain of the file and serves all ranks (Thakur & Choudhary,
// Scientific Programming 5(4), 1996). Domains are even ranges, or follow the layout: blocks of N
// stripes in turn (Dickens & Logan, CCPE 2009, HPDC 2009), or all stripes of some OSTs.
#include <algorithm>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/algorithms/aggregator_count.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/algorithms/rounds.h"

namespace nacre::plan {
namespace {

Extent range_of(const CollectivePlan& plan) { return {plan.origin, plan.end - plan.origin}; }

DomainPattern pattern_for(const PlanInputs& inputs) {
  const CollectiveSettings& settings = inputs.settings;
  if (!settings.has_stripes_of(inputs.summary.bounds)) return DomainPattern::even;
  if (settings.pattern != DomainPattern::automatic) return settings.pattern;
  if (inputs.domains.pattern != DomainPattern::automatic) return inputs.domains.pattern;
  const bool is_striped =
      std::ranges::any_of(settings.stripes->regions(),
                          [](const StripedRegion& region) { return region.slot_count() > 1; });
  return is_striped ? DomainPattern::osts : DomainPattern::even;
}

/// In reads that are in steps, the range of an aggregator is at the same place in each call, so
/// that its node reads ahead. All others begin at whole blocks.
std::int64_t range_alignment(DomainPattern pattern, const PlanInputs& inputs) {
  const AccessSummary& summary = inputs.summary;
  const bool reads = inputs.participants.direction == Direction::read;
  const bool is_read_ahead = reads && summary.continues_steps();
  if (pattern == DomainPattern::even && is_read_ahead && summary.is_dense()) return 1;
  return inputs.settings.alignment_of(summary.bounds);
}

/// One contiguous range per aggregator.
void divide_ranges(CollectivePlan& plan, std::int64_t alignment, const AggregatorCount& wanted) {
  const std::int64_t range = plan.end - plan.origin;
  plan.block_bytes = round_up(divide_up(range, wanted.count), alignment);
  const std::int64_t ranges = divide_up(range, plan.block_bytes);
  set_count(plan, {ranges, ranges < wanted.count ? CountReason::blocks : wanted.reason});
}

/// The smallest number of aggregators that is as fast as `aggregators`. With fewer aggregators than
/// slots, the aggregator with the most slots finishes last. With more, the slot that the fewest
/// aggregators share finishes last.
std::int64_t even_count(std::int64_t aggregators, std::int64_t slots) {
  if (aggregators >= slots) return round_down(aggregators, slots);
  return divide_up(slots, divide_up(slots, aggregators));
}

/// Whole stripes.
void divide_stripes(CollectivePlan& plan, const PlanInputs& inputs, const AggregatorCount& wanted) {
  const CollectiveSettings& settings = inputs.settings;
  const StripedRegion& region = settings.stripes->main_region(range_of(plan));
  plan.block_bytes = region.stripe_size;
  if (plan.pattern == DomainPattern::stripes) {
    const bool is_given =
        settings.pattern == DomainPattern::automatic && inputs.domains.stripes > 0;
    plan.block_bytes = saturating_multiply<std::int64_t>(
        plan.block_bytes, is_given ? inputs.domains.stripes : settings.osts_per_aggregator);
  }
  const std::int64_t blocks = divide_up(plan.end - plan.origin, plan.block_bytes);
  AggregatorCount count = wanted;
  // Aggregators keep their OSTs from call to call, and with them the locks, although a short call
  // leaves some of them without bytes.
  const bool keeps_osts = plan.pattern == DomainPattern::osts;
  if (blocks < count.count && !keeps_osts) count = {blocks, CountReason::blocks};
  // Equal numbers on all nodes keep their links equally busy, if each OST has several writers.
  // Reads of them took longer than predicted.
  const bool fills_nodes = inputs.participants.direction == Direction::write &&
                           inputs.aggregator_count >= 2 * std::int64_t{region.slot_count()} &&
                           inputs.aggregator_count % inputs.participants.node_count == 0;
  if (plan.pattern == DomainPattern::osts && settings.aggregator_count == 0 && !fills_nodes) {
    const std::int64_t even = even_count(count.count, region.slot_count());
    if (even < count.count) count = {even, CountReason::osts};
  }
  set_count(plan, count);
}

/// The number of sets of aggregators that share no OST; 0: unknown or none.
std::int64_t sets_with_own_osts(const CollectivePlan& plan, const CollectiveSettings& settings) {
  const StripedRegion* const region = settings.main_region_of(range_of(plan));
  if (region == nullptr || plan.pattern == DomainPattern::stripes) return 0;
  const std::int32_t slots = region->slot_count();
  if (plan.pattern == DomainPattern::osts) return divide_up(slots, settings.osts_per_aggregator);
  return slots == 1 ? 1 : 0;
}

/// Limits the aggregators of a set to the aggregators of one node: if nodes shared OSTs, locks
/// would move from node to node.
AggregatorCount limit_to_nodes(AggregatorCount wanted, std::int64_t sets,
                               const PlanInputs& inputs) {
  const Participants& participants = inputs.participants;
  const std::int64_t ranks_per_node = divide_up(participants.rank_count, participants.node_count);
  const std::int64_t per_set =
      std::min<std::int64_t>(inputs.settings.thresholds().aggregators_per_node_max, ranks_per_node);
  const std::int64_t count_max = sets * per_set;
  const bool is_limited =
      sets > 0 && inputs.settings.aggregator_count == 0 && wanted.count > count_max;
  return is_limited ? AggregatorCount{count_max, CountReason::most} : wanted;
}

/// Every node has cycle buffers for the aggregators of all nodes.
void limit_cycle_to_node_memory(CollectivePlan& plan, const CollectiveSettings& settings) {
  const Thresholds& thresholds = settings.thresholds();
  const std::int64_t per_node = settings.cycle_bytes > 0
                                    ? thresholds.requested_round_bytes_per_node_max
                                    : thresholds.round_bytes_per_node_max;
  const std::int64_t most =
      std::max(thresholds.relayed_cycle_bytes_min, per_node / plan.aggregator_count);
  plan.cycle_bytes =
      std::min(plan.cycle_bytes, round_up(most, settings.alignment_of(range_of(plan))));
}

void lay_out(CollectivePlan& plan, const PlanInputs& inputs) {
  const AccessSummary& summary = inputs.summary;
  const CollectiveSettings& settings = inputs.settings;
  const Participants& participants = inputs.participants;
  plan.pattern = pattern_for(inputs);
  const std::int64_t alignment = range_alignment(plan.pattern, inputs);
  plan.origin = round_down(summary.bounds.offset, alignment);
  plan.end = summary.bounds.end();
  plan.first_byte = summary.bounds.offset;
  const std::int64_t sets = sets_with_own_osts(plan, settings);
  const AggregatorCount wanted = limit_to_nodes(count_aggregators(inputs), sets, inputs);
  const bool by_stripes = plan.pattern != DomainPattern::even;
  if (by_stripes) {
    divide_stripes(plan, inputs, wanted);
  } else {
    divide_ranges(plan, alignment, wanted);
  }
  const bool is_even = sets > 0 && plan.aggregator_count % sets == 0;
  plan.aggregator_sets = is_even ? checked_cast<std::int32_t>(sets) : 0;
  plan.cycle_bytes = wanted_cycle_bytes(settings, summary.bounds);
  if (inputs.domains.pattern == DomainPattern::even) {
    limit_rounds_to_rows(plan, settings);
  } else {
    divide_into_rounds(plan, settings);
  }
  if (participants.node_count > 1) limit_cycle_to_node_memory(plan, settings);
  plan.whole_rounds = summary.distinct_bytes() >= (plan.end - plan.origin) / 2;
  if (by_stripes) {
    fit_rounds_to_stripes(plan, settings);
  } else {
    fit_rounds_to_domains(plan, settings);
  }
  set_cycle_buffers(plan, settings);
}

}  // namespace

const AlgorithmRow two_phase_row{Algorithm::two_phase, "two_phase", DomainsOf::file,
                                 RoundOrder::file, lay_out};

}  // namespace nacre::plan
