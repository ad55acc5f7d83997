#include "plan/decide/collective_plan.h"

#include <algorithm>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "plan/decide/write_locks.h"

namespace nacre::plan {
namespace {

// Runs at least this long are moved by the rank that has them. A call costs some 2 us whatever its
// size and a copy 4 to 10 GB/s, so at 32 KiB calls are less than a third of the cost of moving the
// bytes to the page cache, while taking them through another rank adds at least one more copy.
constexpr std::int64_t large_run_bytes = 32 << 10;

// Memory runs this long cost no more to write from than one run does.
constexpr std::int64_t large_memory_run_bytes = 4 << 10;

// The most bytes of a round on local file systems. Small enough for what is in flight on a node to
// stay in its caches, large enough for the wakes between rounds to be soon paid for: on tmpfs, 8
// aggregators on 2 cores, 256 KiB and 512 KiB did alike and 1 MiB a tenth worse.
constexpr std::int64_t local_cycle_bytes = 256 << 10;
// The same where a call goes over a network, to a server that has a latency.
constexpr std::int64_t remote_cycle_bytes = 4 << 20;

// What is under way at a remote server and on its way there: at 1 GB/s a latency of 4 ms is 4 MB,
// and as much is being filled meanwhile. One buffer to be filled, one whose bytes go and one that
// waits for its answer are the least that keep a server busy.
constexpr std::int64_t remote_buffer_bytes = 8 << 20;
constexpr std::int64_t remote_buffers_min = 3;
constexpr std::int64_t remote_buffers_max = 8;
// Where the aggregator moves the bytes itself one is filled or emptied meanwhile.
constexpr std::int64_t local_buffers = 2;

// The most aggregators of a node that pay. On local file systems readers go side by side, writers
// one at a time, and others that wait in the kernel spin there (four of them: a quarter slower than
// one, at a fourth more CPU time), so they wait for their turn outside and take in the next round
// meanwhile.
constexpr std::int32_t aggregators_a_node = 8;
// On local file systems few take accesses to one file as fast as many.
constexpr std::int64_t local_aggregators_max = 32;

// What the rounds of all aggregators take on a node, which has cycle buffers for those on other
// nodes too, so that it sends each of them one message a round.
constexpr std::int64_t rounds_bytes_a_node = 64 << 20;
constexpr std::int64_t asked_rounds_bytes_a_node = 256 << 20;  // where a hint asks for more
constexpr std::int64_t relayed_cycle_bytes_least = 64 << 10;
constexpr std::int64_t aggregators_max = rounds_bytes_a_node / relayed_cycle_bytes_least;

// What a round is told by in memory that ranks share has 32 bits for its number.
constexpr std::int64_t round_count_max = std::int64_t{1} << 31;

std::int64_t estimate_runs(const TypeMap& type, std::int64_t byte_count) {
  if (type.is_contiguous()) return 1;
  const double copies = static_cast<double>(byte_count) / static_cast<double>(type.size());
  const double runs = copies * static_cast<double>(type.run_count());
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(runs), 1, byte_count);
}

/// How many bytes of the file are touched, about. Ranks whose bounds are all the same have their
/// first byte in common: they touch the same bytes, not each its own.
std::int64_t distinct_bytes(const AccessSummary& summary) {
  const bool alike =
      summary.rank_count > 1 && summary.span_bytes / summary.rank_count == summary.bounds.length;
  return alike ? summary.bytes_max : summary.bytes;
}

std::int64_t alignment_of(const CollectiveSettings& settings) {
  return std::max<std::int64_t>(1, settings.alignment_bytes);
}

/// Rounds no longer than a domain, and no more of them than can be told.
void limit_rounds(CollectivePlan& plan, const CollectiveSettings& settings) {
  plan.cycle_bytes = std::max(plan.cycle_bytes, divide_up(plan.block_bytes, round_count_max));
  plan.cycle_bytes = std::min(plan.cycle_bytes, plan.block_bytes);
  plan.round_count = domains_of(plan, settings).round_count();
}

/// Of a plan that has its rounds.
std::int32_t cycle_buffers_of(const CollectivePlan& plan, const CollectiveSettings& settings) {
  if (settings.cycle_buffer_count > 0) return settings.cycle_buffer_count;
  const std::int64_t remote = std::clamp(divide_up(remote_buffer_bytes, plan.cycle_bytes),
                                         remote_buffers_min, remote_buffers_max);
  const std::int64_t wanted = settings.one_writer_a_node ? local_buffers : remote;
  return checked_cast<std::int32_t>(std::min(wanted, std::max<std::int64_t>(2, plan.round_count)));
}

bool has_large_pieces(const AccessSummary& summary) {
  return summary.bytes / summary.run_count >= large_run_bytes;
}

/// Whether memory is in such small pieces that ranks which share a node had better copy them into
/// one place.
bool is_gathered_together(const AccessSummary& summary, const Participants& participants) {
  return participants.node_count == 1 &&
         summary.bytes / summary.memory_run_count < large_memory_run_bytes;
}

bool is_interleaved(const AccessSummary& summary) {
  return summary.span_bytes > summary.bounds.length;
}

/// Whether nodes hold locks on objects of the file (as on Lustre): where their pieces lie among
/// each other's, each piece takes the lock away from another node, which has to write back first.
/// On the testbed some 14,000 times a GiB with pieces of 47 KB, and not once by domains of whole
/// objects.
bool takes_locks_away(const CollectiveSettings& settings, const Participants& participants) {
  return settings.stripes != nullptr && participants.node_count > 1;
}

/// Where most of the bytes lie: a small head in front of them does not say how they are dealt.
const StripedRegion& main_region(const StripeMap& stripes, const Extent& bytes) {
  return *std::ranges::max_element(stripes.regions(), {}, [&](const StripedRegion& region) {
    return intersection(region.extent, bytes).length;
  });
}

/// Whether what the ranks of a node write is less than a stripe: nodes are on one object then.
bool share_stripes(const AccessSummary& summary, const CollectiveSettings& settings,
                   const Participants& participants) {
  const StripedRegion& region = main_region(*settings.stripes, summary.bounds);
  return participants.direction == Direction::write &&
         summary.span_bytes / participants.node_count < region.stripe_size;
}

struct Choice {
  Algorithm algorithm;
  PlanReason reason;
};

Choice choose(const AccessSummary& summary, const CollectiveSettings& settings,
              const Participants& participants) {
  if (summary.bytes == 0) return {Algorithm::direct, PlanReason::no_data};
  if (!summary.monotone) return {Algorithm::direct, PlanReason::unordered_view};
  if (settings.algorithm != Algorithm::automatic) return {settings.algorithm, PlanReason::hint};
  if (participants.rank_count == 1 || summary.rank_count == 1) {
    return {Algorithm::direct, PlanReason::single_rank};
  }
  const bool interleaved = is_interleaved(summary);
  if (has_large_pieces(summary)) {
    if (takes_locks_away(settings, participants) &&
        (interleaved || share_stripes(summary, settings, participants))) {
      return {Algorithm::two_phase, PlanReason::shared_objects};
    }
    if (!is_gathered_together(summary, participants)) {
      return {Algorithm::direct, PlanReason::large_pieces};
    }
    return {Algorithm::two_phase, PlanReason::scattered_memory};
  }
  return {Algorithm::two_phase, interleaved ? PlanReason::interleaved : PlanReason::small_pieces};
}

struct AggregatorCount {
  std::int64_t count;
  CountReason reason;
};

/// The most aggregators that pay.
std::int32_t aggregator_count_max(const CollectiveSettings& settings,
                                  const Participants& participants) {
  const std::int64_t at_all = settings.one_writer_a_node ? local_aggregators_max : aggregators_max;
  const std::int64_t by_nodes = std::int64_t{participants.node_count} * aggregators_a_node;
  return checked_cast<std::int32_t>(
      std::min({at_all, by_nodes, std::int64_t{participants.rank_count}}));
}

/// How many there are to be.
AggregatorCount count_aggregators(const AccessSummary& summary, const CollectiveSettings& settings,
                                  const Participants& participants) {
  const std::int64_t ranks = participants.rank_count;
  if (settings.aggregator_count > 0) {
    return {std::min<std::int64_t>(settings.aggregator_count, ranks), CountReason::hint};
  }
  const std::int64_t busy = aggregators_for(distinct_bytes(summary), saturation_of(settings));
  const std::int64_t most = aggregator_count_max(settings, participants);
  if (busy <= most) return {busy, CountReason::saturation};
  return {most, most == ranks ? CountReason::ranks : CountReason::most};
}

std::int64_t cycle_bytes_of(const CollectiveSettings& settings) {
  const std::int64_t most = settings.one_writer_a_node ? local_cycle_bytes : remote_cycle_bytes;
  const std::int64_t cycle = settings.cycle_bytes > 0 ? settings.cycle_bytes : most;
  const std::int64_t alignment = alignment_of(settings);
  return cycle < alignment ? cycle : round_down(cycle, alignment);
}

/// Whether it is known for all of the bytes where they lie.
bool is_striped(const CollectiveSettings& settings, const Extent& bytes) {
  return settings.stripes != nullptr &&
         settings.stripes->regions().back().extent.end() >= bytes.end();
}

DomainPattern pattern_for(const CollectiveSettings& settings, const Extent& bytes) {
  if (!is_striped(settings, bytes)) return DomainPattern::even;
  if (settings.pattern != DomainPattern::automatic) return settings.pattern;
  const bool has_slots =
      std::ranges::any_of(settings.stripes->regions(),
                          [](const StripedRegion& region) { return region.slot_count() > 1; });
  return has_slots ? DomainPattern::slots : DomainPattern::even;
}

/// One contiguous block an aggregator.
void lay_out_ranges(CollectivePlan& plan, const CollectiveSettings& settings,
                    const AggregatorCount& wanted) {
  const std::int64_t range = plan.end - plan.origin;
  plan.block_bytes = round_up(divide_up(range, wanted.count), alignment_of(settings));
  plan.aggregator_count = checked_cast<std::int32_t>(divide_up(range, plan.block_bytes));
  plan.count_reason = plan.aggregator_count < wanted.count ? CountReason::blocks : wanted.reason;
}

/// No more aggregators than do the work sooner: where they are fewer than slots, what the one with
/// most slots has decides, and where they are more, what they have of the slot that fewest share.
std::int64_t even_count(std::int64_t aggregators, std::int64_t slots) {
  if (aggregators >= slots) return round_down(aggregators, slots);
  return divide_up(slots, divide_up(slots, aggregators));
}

/// Whole stripes, as many aggregators as there are stripes at most.
void lay_out_stripes(CollectivePlan& plan, const CollectiveSettings& settings,
                     const AggregatorCount& wanted) {
  const StripedRegion& region =
      main_region(*settings.stripes, {plan.origin, plan.end - plan.origin});
  plan.block_bytes = region.stripe_size;
  if (plan.pattern == DomainPattern::stripes) {
    plan.block_bytes =
        saturating_multiply<std::int64_t>(plan.block_bytes, settings.osts_per_aggregator);
  }
  const std::int64_t blocks = divide_up(plan.end - plan.origin, plan.block_bytes);
  AggregatorCount count = wanted;
  if (blocks < count.count) count = {blocks, CountReason::blocks};
  if (plan.pattern == DomainPattern::slots && settings.aggregator_count == 0) {
    const std::int64_t even = even_count(count.count, region.slot_count());
    if (even < count.count) count = {even, CountReason::slots};
  }
  plan.aggregator_count = checked_cast<std::int32_t>(count.count);
  plan.count_reason = count.reason;
}

/// In how many sets aggregators can be of which each has OSTs of its own; 0: in none.
std::int64_t sets_with_own_osts(const CollectivePlan& plan, const CollectiveSettings& settings) {
  const Extent bytes{plan.origin, plan.end - plan.origin};
  if (!is_striped(settings, bytes) || plan.pattern == DomainPattern::stripes) return 0;
  const std::int32_t slots = main_region(*settings.stripes, bytes).slot_count();
  if (plan.pattern == DomainPattern::slots) return divide_up(slots, settings.osts_per_aggregator);
  return slots == 1 ? 1 : 0;
}

/// Rounds of whole stripes where they are as long, and no longer than what a domain has.
void fit_rounds_to_stripes(CollectivePlan& plan, const CollectiveSettings& settings) {
  const std::int64_t range = plan.end - plan.origin;
  const std::int64_t share = round_up(divide_up(range, plan.aggregator_count), plan.block_bytes);
  plan.cycle_bytes = std::max(plan.cycle_bytes, divide_up(range, round_count_max));
  plan.cycle_bytes = std::min(plan.cycle_bytes, share);
  if (plan.cycle_bytes > plan.block_bytes) {
    plan.cycle_bytes = round_down(plan.cycle_bytes, plan.block_bytes);
  }
  plan.round_count = domains_of(plan, settings).round_count();
}

void lay_out_domains(CollectivePlan& plan, const AccessSummary& summary,
                     const CollectiveSettings& settings, const Participants& participants) {
  const std::int64_t alignment = alignment_of(settings);
  plan.origin = round_down(summary.bounds.offset, alignment);
  plan.end = summary.bounds.end();
  plan.pattern = pattern_for(settings, summary.bounds);
  AggregatorCount wanted = count_aggregators(summary, settings, participants);
  const std::int64_t sets = sets_with_own_osts(plan, settings);
  // Those of a set are to be on one node.
  const std::int64_t ranks_a_node = divide_up(participants.rank_count, participants.node_count);
  const std::int64_t count_max = sets * std::min<std::int64_t>(aggregators_a_node, ranks_a_node);
  if (sets > 0 && settings.aggregator_count == 0 && wanted.count > count_max) {
    wanted = {count_max, CountReason::most};
  }
  const bool by_stripes = plan.pattern != DomainPattern::even;
  if (by_stripes) {
    lay_out_stripes(plan, settings, wanted);
  } else {
    lay_out_ranges(plan, settings, wanted);
  }
  const bool is_even = sets > 0 && plan.aggregator_count % sets == 0;
  plan.aggregator_sets = is_even ? checked_cast<std::int32_t>(sets) : 0;
  plan.cycle_bytes = cycle_bytes_of(settings);
  if (participants.node_count > 1) {
    const std::int64_t a_node =
        settings.cycle_bytes > 0 ? asked_rounds_bytes_a_node : rounds_bytes_a_node;
    const std::int64_t most = std::max(relayed_cycle_bytes_least, a_node / plan.aggregator_count);
    plan.cycle_bytes = std::min(plan.cycle_bytes, round_up(most, alignment));
  }
  plan.whole_rounds = distinct_bytes(summary) >= (plan.end - plan.origin) / 2;
  if (by_stripes) {
    fit_rounds_to_stripes(plan, settings);
  } else {
    limit_rounds(plan, settings);
  }
  plan.cycle_buffer_count = checked_cast<std::uint8_t>(cycle_buffers_of(plan, settings));
}

}  // namespace

std::int64_t saturation_of(const CollectiveSettings& settings) {
  return round_up(std::max<std::int64_t>(1, settings.saturation_bytes), alignment_of(settings));
}

std::int64_t estimate_run_count(const FileAccess& access) {
  return estimate_runs(access.view.type, access.byte_count);
}

AccessSummary summarize(const FileAccess& access, const MemoryAccess& memory) {
  AccessSummary summary;
  if (access.byte_count == 0) return summary;
  summary.bounds = bounds(access);
  summary.bytes = access.byte_count;
  summary.run_count = estimate_run_count(access);
  summary.memory_run_count = estimate_runs(memory.type, access.byte_count);
  summary.span_bytes = summary.bounds.length;
  summary.bytes_max = access.byte_count;
  summary.rank_count = 1;
  summary.monotone = access.view.type.tiles_monotone();
  return summary;
}

void fold(AccessSummary& into, const AccessSummary& from) {
  into.bounds = hull(into.bounds, from.bounds);
  into.bytes = saturating_add(into.bytes, from.bytes);
  into.run_count = saturating_add(into.run_count, from.run_count);
  into.memory_run_count = saturating_add(into.memory_run_count, from.memory_run_count);
  into.span_bytes = saturating_add(into.span_bytes, from.span_bytes);
  into.bytes_max = std::max(into.bytes_max, from.bytes_max);
  into.rank_count += from.rank_count;
  into.monotone = into.monotone && from.monotone;
}

bool moves_by_itself(const AccessSummary& own, const CollectiveSettings& settings,
                     const Participants& participants) {
  if (own.bytes == 0) return false;
  if (settings.algorithm != Algorithm::automatic) return settings.algorithm == Algorithm::direct;
  if (participants.rank_count == 1) return true;
  return has_large_pieces(own) && !is_gathered_together(own, participants) &&
         !takes_locks_away(settings, participants);
}

CollectivePlan decide(const AccessSummary& summary, const CollectiveSettings& settings,
                      const Participants& participants) {
  CollectivePlan plan;
  const Choice choice = choose(summary, settings, participants);
  plan.algorithm = choice.algorithm;
  plan.reason = choice.reason;
  if (is_exchange(plan.algorithm)) {
    plan.writers_take_turns =
        participants.direction == Direction::write && settings.one_writer_a_node;
  }
  if (plan.algorithm == Algorithm::two_phase) {
    lay_out_domains(plan, summary, settings, participants);
    plan.write_locks = write_locks_for(plan, settings, participants);
  }
  return plan;
}

RankLoad load_of(const FileAccess& access) { return {bounds(access), access.byte_count}; }

GroupTarget group_target(const CollectiveSettings& settings, const Participants& participants) {
  return {saturation_of(settings), settings.aggregator_count,
          aggregator_count_max(settings, participants)};
}

void lay_out_groups(CollectivePlan& plan, const AccessSummary& summary,
                    const CollectiveSettings& settings, const RankGroups& groups) {
  plan.aggregator_count = groups.count();
  plan.count_reason = settings.aggregator_count > 0 ? CountReason::hint : CountReason::groups;
  plan.cycle_bytes = cycle_bytes_of(settings);
  if (plan.algorithm == Algorithm::static_segmentation) {
    const std::int64_t members = groups.size_max();
    const auto cycle_of = [&](std::int64_t bytes_each) {
      return saturating_multiply(members, bytes_each);
    };
    plan.cycle_bytes =
        std::clamp(plan.cycle_bytes, cycle_of(divide_up(summary.bytes_max, round_count_max)),
                   cycle_of(summary.bytes_max));
    plan.round_count = divide_up(summary.bytes_max, plan.cycle_bytes / members);
    plan.end = saturating_multiply(plan.round_count, plan.cycle_bytes);
    plan.block_bytes = plan.end;
    plan.whole_rounds = true;
  } else {
    plan.origin = round_down(summary.bounds.offset, alignment_of(settings));
    plan.end = summary.bounds.end();
    plan.block_bytes = plan.end - plan.origin;
    limit_rounds(plan, settings);
  }
  plan.cycle_buffer_count = checked_cast<std::uint8_t>(cycle_buffers_of(plan, settings));
}

Aggregators aggregators_of(const CollectivePlan& plan, std::shared_ptr<const RankGroups> groups,
                           const NodeMap& nodes) {
  if (groups != nullptr) return Aggregators::of_groups(std::move(groups));
  return Aggregators::spread(plan.aggregator_count, plan.aggregator_sets, nodes);
}

FileDomains domains_of(const CollectivePlan& plan, const CollectiveSettings& settings) {
  const Extent range{plan.origin, plan.end - plan.origin};
  const std::int32_t count = domain_count(plan);
  switch (plan.pattern) {
    case DomainPattern::stripes:
      return FileDomains::of_stripes(range, *settings.stripes, settings.osts_per_aggregator, count,
                                     plan.cycle_bytes);
    case DomainPattern::slots:
      return FileDomains::of_slots(range, *settings.stripes,
                                   {settings.osts_per_aggregator, settings.sharing}, count,
                                   plan.cycle_bytes);
    case DomainPattern::automatic:
    case DomainPattern::even:
      break;
  }
  return FileDomains::of_blocks(range, plan.block_bytes, count, plan.cycle_bytes);
}

}  // namespace nacre::plan
