#include "plan/decide/traffic.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "machine/machine.h"
#include "plan/decide/ost_shares.h"

namespace nacre::plan {
namespace {

/// Of a sieving read.
constexpr double sieve_bytes = 4 << 20;

double real(std::int64_t value) { return static_cast<double>(value); }

RangeStripes stripes_of(const PlanInputs& inputs) {
  const Extent& bounds = inputs.summary.bounds;
  const StripedRegion* const region = inputs.settings.main_region_of(bounds);
  if (region == nullptr) return {.slots = 1, .stripe_bytes = std::max(1.0, real(bounds.length))};
  return {.slots = real(region->slot_count()), .stripe_bytes = real(region->stripe_size)};
}

/// The writers have equal parts of the bytes, and the nodes equal numbers of writers or one less.
void divide_evenly(Traffic& traffic) {
  traffic.fullest_writer = 1 / traffic.writers;
  traffic.fullest_node = std::ceil(traffic.writers / traffic.nodes) / traffic.writers;
}

class TrafficModel {
 public:
  TrafficModel(const CollectivePlan& plan, const PlanInputs& inputs)
      : plan_(plan),
        row_(row_of(plan)),
        summary_(inputs.summary),
        settings_(inputs.settings),
        machine_(*inputs.settings.machine),
        direction_(inputs.participants.direction),
        nodes_(std::max(1, inputs.participants.node_count)),
        ranks_per_node_(std::floor(inputs.participants.rank_count / nodes_)),
        stripes_(stripes_of(inputs)) {}

  [[nodiscard]] Traffic traffic() const {
    Traffic traffic = row_.exchanges() ? aggregated() : direct();
    traffic.calls_at_once = calls_at_once(traffic);
    traffic.lock_waits = lock_waits(traffic);
    meet_on_osts(traffic);
    go_in_same_order(traffic);
    traffic.fullest_ost_bytes = bytes_of_fullest_ost(traffic);
    return traffic;
  }

 private:
  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }

  [[nodiscard]] Traffic begin() const {
    return {.stripes = stripes_,
            .divides_osts = divides_osts(),
            .overlaps_next_calls = overlaps_next_calls()};
  }

  /// The OSTs of an aggregator with `each` bytes, in blocks of stripes that are dealt in turn.
  [[nodiscard]] double osts_in_turn(double writers, double each) const {
    const std::int64_t stripes = stripes_in_turn(plan_, settings_);
    const std::int64_t step = stripes * static_cast<std::int64_t>(writers);
    return std::min(stripes_.osts_of(each), real(stripes) * osts_of_steps(step));
  }

  /// The OSTs that have the stripes at a distance of `step` stripes from each other.
  [[nodiscard]] double osts_of_steps(std::int64_t step) const {
    const auto slots = static_cast<std::int64_t>(stripes_.slots);
    return real(slots / std::gcd(step, slots));
  }

  /// Whether each aggregator has the stripes on some OSTs.
  [[nodiscard]] bool divides_osts() const {
    return row_.exchanges() && plan_.pattern == DomainPattern::osts;
  }

  /// Whether the range has fewer stripes than the file has OSTs.
  [[nodiscard]] bool is_short() const {
    return std::ceil(real(summary_.bounds.length) / stripes_.stripe_bytes) < stripes_.slots;
  }

  [[nodiscard]] bool overlaps_next_calls() const {
    return writes() && (is_short() || summary_.in_steps);
  }

  /// Each rank accesses its own pieces.
  [[nodiscard]] Traffic direct() const {
    Traffic traffic = begin();
    traffic.bytes = real(summary_.bytes);
    traffic.writers = std::max(1, summary_.rank_count);
    traffic.nodes = std::clamp(real(summary_.node_count()), 1.0, nodes_);
    traffic.calls = real(summary_.run_count);
    traffic.in_flight = real(machine_.read_bytes);
    const double run_and_gap = real(summary_.span_bytes) / traffic.calls;
    if (!writes() && run_and_gap <= real(settings_.sieving_bytes)) {
      traffic.bytes = real(summary_.span_bytes);
      traffic.calls = std::max(traffic.writers, traffic.bytes / sieve_bytes);
    }
    divide_evenly(traffic);
    traffic.fullest_writer = std::max(traffic.fullest_writer, part_of(summary_.bytes_max));
    traffic.fullest_node = std::max(traffic.fullest_node, part_of(summary_.node_bytes_max()));
    count_waits(traffic);
    traffic.osts = stripes_.osts_of(real(summary_.bounds.length));
    const double span = real(summary_.node_span_bytes()) / traffic.nodes;
    traffic.nodes_per_ost = summary_.slots != 0
                                ? summary_.nodes_per_slot()
                                : traffic.nodes * stripes_.osts_of(span) / traffic.osts;
    traffic.nodes_per_ost = std::max(1.0, traffic.nodes_per_ost);
    if (writes() && traffic.nodes > 1) traffic.shared_pieces = pieces_that_share_locks(traffic);
    if (!nodes_interleave()) pass_on(traffic);
    return traffic;
  }

  [[nodiscard]] bool nodes_interleave() const {
    return summary_.node_span_bytes() > summary_.bounds.length;
  }

  /// Of direct writes by several nodes.
  [[nodiscard]] double pieces_that_share_locks(const Traffic& traffic) const {
    if (machine_.wide_locks == 0 && summary_.whole_pages && summary_.slots != 0) return 0;
    if (nodes_interleave()) {
      const double piece = traffic.bytes / traffic.calls;
      const double from_others = 1 - 1 / traffic.nodes_per_ost;
      return traffic.calls * std::ceil(piece / stripes_.stripe_bytes) * from_others;
    }
    const double span = real(summary_.node_span_bytes()) / traffic.nodes;
    if (span < stripes_.stripe_bytes) return traffic.nodes;
    return machine_.wide_locks != 0 ? traffic.nodes_per_ost * traffic.osts : 0;
  }

  [[nodiscard]] double part_of(std::int64_t bytes) const {
    return real(bytes) / std::max(1.0, real(summary_.bytes));
  }

  /// Aggregators access the file.
  [[nodiscard]] Traffic aggregated() const {
    Traffic traffic = begin();
    const bool reads_range = !writes() && plan_.whole_rounds && !row_.needs_groups();
    traffic.bytes = reads_range ? real(plan_.end - plan_.origin) : real(summary_.distinct_bytes());
    traffic.writers = writers_among_aggregators();
    const bool by_groups = !writes() && row_.needs_groups();
    if (by_groups) traffic.bytes = bytes_of_groups(traffic);
    const double sets = plan_.aggregator_sets;
    traffic.nodes = std::min({nodes_, traffic.writers, sets > 0 ? sets : nodes_});
    divide_evenly(traffic);
    const double each = traffic.bytes / traffic.writers;
    const double cycle =
        std::clamp(real(std::max<std::int64_t>(1, plan_.cycle_bytes)), 1.0, std::max(1.0, each));
    // A round holds as many bytes as are wanted, and one read bridges the gaps between them.
    traffic.calls =
        by_groups
            ? std::max(traffic.writers * reads_of_group(traffic), real(summary_.bytes) / cycle)
            : traffic.bytes / std::min(cycle, std::max(1.0, contiguous(traffic.writers)));
    const double read_ahead = real(std::max<std::int64_t>(1, machine_.read_bytes));
    traffic.in_flight = plan_.whole_rounds
                            ? read_ahead
                            : real(plan_.cycle_buffer_count) * std::min(cycle, read_ahead);
    if (plan_.whole_rounds || row_.needs_groups()) count_waits(traffic);
    traffic.osts = stripes_.osts_of(real(summary_.bounds.length));
    share_osts(traffic);
    return traffic;
  }

  /// Bytes that groups read: also those in the gaps that they bridge, which may be pieces of other
  /// groups.
  [[nodiscard]] double bytes_of_groups(const Traffic& traffic) const {
    if (bridges_all_gaps()) {
      const double of_all_groups = traffic.writers * real(summary_.bounds.length);
      return std::max(traffic.bytes, std::min(spans_of(traffic.writers), of_all_groups));
    }
    const double of_ranks = real(summary_.bytes) + summary_.near_gap_bytes;
    if (!summary_.is_interleaved()) return std::max(traffic.bytes, of_ranks);
    // The ranks of a group are assumed to fill each other's gaps.
    const double of_rank = std::min(of_ranks / summary_.rank_count, real(summary_.bounds.length));
    return std::max(traffic.bytes, traffic.writers * of_rank);
  }

  [[nodiscard]] bool bridges_all_gaps() const { return summary_.wide_gap_count < 1; }

  /// Reads of a group, if each goes on up to the next wide gap.
  [[nodiscard]] double reads_of_group(const Traffic& traffic) const {
    const double of_rank = 1 + double{summary_.wide_gap_count} / summary_.rank_count;
    if (summary_.is_interleaved() || bridges_all_gaps()) return of_rank;
    return of_rank * std::max(1.0, real(summary_.rank_count) / traffic.writers);
  }

  /// Bytes of the longest contiguous access of an aggregator.
  [[nodiscard]] double contiguous(double writers) const {
    const double run = real(summary_.bytes) / real(summary_.run_count);
    // A round has the bytes of some ranks, or of all.
    if (row_.order == RoundOrder::rank && plan_.round_count > 1) return run;
    const double members = real(summary_.rank_count) / writers;
    if (row_.needs_groups()) return summary_.is_interleaved() ? run * std::max(1.0, members) : run;
    if (!summary_.is_dense()) return run;
    const bool by_stripes =
        plan_.pattern == DomainPattern::osts || plan_.pattern == DomainPattern::stripes;
    return by_stripes && stripes_.slots > 1 ? real(plan_.block_bytes) : real(plan_.cycle_bytes);
  }

  /// A short read leaves aggregators without bytes: stripes are dealt to them in turn.
  [[nodiscard]] double writers_among_aggregators() const {
    const double aggregators = std::max(1, plan_.aggregator_count);
    const bool leaves_some = plan_.pattern == DomainPattern::osts && !writes() && is_short();
    return leaves_some ? std::min(aggregators, stripes_.osts_of(real(summary_.bounds.length)))
                       : aggregators;
  }

  /// The ranges of `groups` of ranks, added up. Ranks are usually a grid: fewer groups than nodes
  /// are then whole rows of it, whose ranges overlap less than those of the nodes.
  [[nodiscard]] double spans_of(double groups) const {
    if (groups > nodes_) return real(summary_.span_bytes);
    const double of_nodes = real(summary_.node_span_bytes());
    return std::max(real(summary_.bounds.length), of_nodes * groups / nodes_);
  }

  void count_waits(Traffic& traffic) const {
    if (writes()) return;
    const bool continues = reads_on(traffic);
    const bool is_ahead = summary_.in_steps && continues;
    const double waits = waits_without_steps(traffic);
    traffic.osts_waited_for = divides_osts() ? osts_waited_for(traffic, waits) : 1;
    traffic.waits = is_ahead ? 0 : waits;
    traffic.others_read_ahead = summary_.in_broken_steps && continues;
    traffic.in_flight = bytes_in_flight(traffic, is_ahead);
  }

  /// A node reads ahead from the third read in equal steps on. The pieces of a group of ranks may
  /// lie at any distances.
  [[nodiscard]] double waits_without_steps(const Traffic& traffic) const {
    constexpr double waits_max = 3;
    const bool is_irregular = row_.needs_groups() && summary_.is_interleaved();
    double waits = std::max(1.0, traffic.calls / traffic.writers);
    // Stripes are dealt in turn: 21 of them give some of 16 aggregators two, on two OSTs. More take
    // no longer (24 reads of 1.3 MiB, emulated ranger, in virtual time: 0.68 s with 16 aggregators,
    // 0.65 s with 8).
    if (divides_osts() && is_short()) waits = std::ceil(waits);
    return is_irregular ? waits : std::min(waits, waits_max);
  }

  /// An aggregator waits for its OSTs in turn until its node reads ahead.
  [[nodiscard]] double osts_waited_for(const Traffic& traffic, double waits) const {
    const double own = is_short() ? 2 : std::ceil(stripes_.slots / traffic.writers);
    return std::min(waits, own);
  }

  /// Of one process. A read asks for all of its bytes at once, up to some length.
  [[nodiscard]] double bytes_in_flight(const Traffic& traffic, bool is_ahead) const {
    const double read_ahead = is_ahead ? real(machine_.read_bytes) : traffic.in_flight;
    if (read_ahead <= 0) return read_ahead;
    // A longer read goes on as its answers come (8 MiB each of 4 ranks, emulated big-red, in
    // virtual time: 0.70 s; two aggregators, with 16 MiB each: 1.33 s).
    constexpr std::int64_t longest = 1 << 20;
    const double at_once = real(std::max(machine_.read_bytes, longest));
    return std::max(read_ahead, std::min(at_once, traffic.bytes / traffic.calls));
  }

  /// Whether each reader makes one read, at the place that follows from the earlier calls in steps,
  /// so that its node can read ahead.
  [[nodiscard]] bool reads_on(const Traffic& traffic) const {
    const bool by_ranks = !row_.exchanges() || row_.order == RoundOrder::rank;
    const bool by_ranges = plan_.whole_rounds && plan_.pattern == DomainPattern::even;
    if (keep_own_stripes()) return true;
    if (!by_ranks && !by_ranges) return false;
    return row_.needs_groups() ? bridges_all_gaps() && plan_.round_count <= 1
                               : traffic.calls <= traffic.writers;
  }

  /// Whether the stripes of each aggregator are at equal distances, also from call to call: calls
  /// of whole stripes that leave none out.
  [[nodiscard]] bool keep_own_stripes() const {
    const auto slots = static_cast<std::int64_t>(stripes_.slots);
    const bool have_equal_slots = slots % std::max(1, plan_.aggregator_count) == 0;
    return divides_osts() && have_equal_slots &&
           summary_.distinct_bytes() == summary_.bounds.length && has_whole_stripes();
  }

  /// Whether the range begins and ends at the ends of stripes.
  [[nodiscard]] bool has_whole_stripes() const {
    const auto stripe = static_cast<std::int64_t>(stripes_.stripe_bytes);
    return summary_.bounds.length % stripe == 0 && summary_.bounds.offset % stripe == 0;
  }

  /// Whether the aggregators that share OSTs are on one node: if the nodes, assumed to have as many
  /// ranks each, have room for that (Aggregators::over_nodes).
  [[nodiscard]] bool keeps_sets() const {
    if (plan_.aggregator_sets <= 0) return false;
    const double sets = plan_.aggregator_sets;
    const double of_node = std::floor(ranks_per_node_ * sets / plan_.aggregator_count);
    return of_node * nodes_ >= sets;
  }

  /// The nodes of aggregators that meet on an OST, and the locks that they take from each other.
  void share_osts(Traffic& traffic) const {
    const DomainPattern pattern = row_.needs_groups() ? DomainPattern::even : plan_.pattern;
    if (pattern == DomainPattern::osts) {
      const OstShares shares({.aggregators = static_cast<std::int64_t>(traffic.writers),
                              .slots = static_cast<std::int64_t>(stripes_.slots),
                              .slots_each_min = settings_.osts_per_aggregator,
                              .nodes = static_cast<std::int64_t>(traffic.nodes),
                              .keeps_sets = keeps_sets()});
      traffic.fullest_writer = shares.of_fullest_aggregator();
      traffic.fullest_node = shares.of_fullest_node();
      traffic.nodes_per_ost = real(shares.nodes_of_a_set());
      pass_on(traffic);
      return;
    }
    const bool in_turn = pattern == DomainPattern::stripes;
    const double each = traffic.bytes / traffic.writers;
    const double osts_each = in_turn ? osts_in_turn(traffic.writers, each) : stripes_.osts_of(each);
    traffic.nodes_per_ost = std::max(1.0, traffic.nodes * osts_each / traffic.osts);
    if (!writes() || traffic.nodes <= 1) return;
    if (in_turn) {
      traffic.shared_pieces = machine_.wide_locks != 0 ? traffic.calls : 0;
    } else if (row_.needs_groups() && summary_.is_interleaved()) {
      traffic.shared_pieces = traffic.calls;
    } else {
      traffic.shared_pieces = traffic.nodes_per_ost * traffic.osts;
    }
  }

  /// The parts of the nodes do not interleave, so that each lock is passed on about once.
  void pass_on(Traffic& traffic) const {
    const bool takes_locks = writes() && machine_.wide_locks != 0 && traffic.nodes_per_ost > 1;
    if (takes_locks) traffic.passed_on = 1 / traffic.osts;
  }

  /// Nodes that read ahead wait for their first lock on each OST, and for a lock again where those
  /// of other nodes end (60 reads of 137 and 274 KiB from 16 and 8 OSTs, emulated flash, in virtual
  /// time: 0.4 to 0.9 times a call). Narrow locks are taken for each piece.
  [[nodiscard]] double lock_waits(const Traffic& traffic) const {
    constexpr double usual = 0.6;
    if (writes() || traffic.waits > 0 || machine_.wide_locks == 0) return 1;
    return keep_own_stripes() ? 0 : usual;
  }

  /// As `nodes_per_ost`, over all OSTs of the file and not only those that the call accesses.
  [[nodiscard]] double nodes_per_ost_of_file(const Traffic& traffic) const {
    return traffic.nodes_per_ost * traffic.osts / stripes_.slots;
  }

  /// Reads that go on in steps are ahead by some calls.
  [[nodiscard]] double calls_at_once(const Traffic& traffic) const {
    if (writes() || traffic.waits > 0) return 1;
    return calls_ahead(traffic, traffic.in_flight);
  }

  /// The calls that readers are ahead with so many bytes each, and the call itself.
  [[nodiscard]] static double calls_ahead(const Traffic& traffic, double bytes) {
    return 1 + std::floor(bytes * traffic.writers / traffic.bytes);
  }

  /// The requests of several calls bring every node to every OST (steps, emulated tungsten: 0.26 s
  /// by 4 nodes, 0.49 s by 8), unless each has its own. No more nodes meet there than have requests
  /// in flight (calls of 17 stripes on 16 OSTs, emulated ranger, in virtual time: 10 ms by 4 nodes
  /// with 8 requests each, 18 ms by 2; 12 direct reads of 8 MiB on 24 OSTs, emulated big-red: 0.77
  /// s, as if 8 nodes met on an OST).
  void meet_on_osts(Traffic& traffic) const {
    if (writes() || traffic.in_flight <= 0 || divides_osts()) return;
    const double request = std::min(stripes_.stripe_bytes, real(machine_.rpc_bytes));
    const double requests = traffic.in_flight * traffic.writers / request / traffic.osts;
    const double least = traffic.calls_at_once > 1 ? std::min(requests, nodes_in_turn(traffic)) : 1;
    traffic.nodes_per_ost = std::clamp(traffic.nodes_per_ost, least, std::max(requests, 1.0));
  }

  /// The nodes that come to an OST in successive calls: all, unless calls of whole stripes lead
  /// each node to the same OSTs again and again (32 reads of 16 stripes, emulated ranger, in
  /// virtual time: 0.14 s directly, as if one node came to an OST). Each call is assumed to begin
  /// where the one before it ended.
  [[nodiscard]] double nodes_in_turn(const Traffic& traffic) const {
    if (!has_whole_stripes()) return traffic.nodes;
    const auto stripe = static_cast<std::int64_t>(stripes_.stripe_bytes);
    const double places = osts_of_steps(summary_.bounds.length / stripe);
    return std::min(traffic.nodes, nodes_per_ost_of_file(traffic) * places);
  }

  /// Nodes that begin at the same OST go through their OSTs in the same order. If nodes begin at
  /// several OSTs, each goes through some OSTs before it reaches the first OST of another node.
  void go_in_same_order(Traffic& traffic) const {
    if (writes() || divides_osts() || traffic.nodes <= 1) return;
    if (row_.domains == DomainsOf::file && plan_.pattern == DomainPattern::stripes) return;
    const double range = real(summary_.bounds.length);
    double of_nodes = range;
    if (!row_.exchanges()) of_nodes = real(summary_.node_span_bytes());
    if (row_.needs_groups()) of_nodes = spans_of(traffic.nodes);
    const double span = of_nodes / traffic.nodes;
    const double apart = std::max(0.0, range - span) / (traffic.nodes - 1);
    const bool begin_together = apart < span / 2;  // most of their ranges overlap
    const std::int64_t step = begin_together ? 0 : std::llround(apart / stripes_.stripe_bytes);
    const double first_osts = std::min(traffic.nodes, osts_of_steps(step));
    traffic.nodes_in_same_order = traffic.nodes / first_osts;
    traffic.osts_in_same_order =
        std::min(stripes_.osts_of(span), std::ceil(traffic.osts / first_osts));
  }

  /// A short range has one stripe more on some OSTs than on others. The OSTs of calls at once are
  /// busy at the same time.
  [[nodiscard]] double bytes_of_fullest_ost(const Traffic& traffic) const {
    const double calls = traffic.others_read_ahead ? calls_ahead(traffic, real(machine_.read_bytes))
                                                   : traffic.calls_at_once;
    const double range = real(summary_.bounds.length);
    if (overlaps_next_calls()) return traffic.bytes / stripes_.slots;
    const double density = traffic.bytes / range;  // above 1 if ranks read the same bytes
    const double most =
        calls > 1 ? most_on_an_ost(calls * range) : stripes_.rows_of(range) * stripes_.stripe_bytes;
    return std::min(traffic.bytes, density * most / calls);
  }

  /// The most bytes that an OST has of the `bytes` from the beginning of the call on. Calls at once
  /// may reach into components that have other OSTs (steps of 137 KiB on the emulated tungsten,
  /// from one OST into the next: 10 ms a call by 4 groups, by one aggregator 41 ms).
  [[nodiscard]] double most_on_an_ost(double bytes) const {
    if (!settings_.has_stripes_of(summary_.bounds)) return bytes;
    const double begin = real(summary_.bounds.offset);
    double most = 0;
    for (const StripedRegion& region : settings_.stripes->regions()) {
      const double first = std::max(begin, real(region.extent.offset));
      const double end = std::min(begin + bytes, real(region.extent.end()));
      if (first >= end) continue;
      const auto stripe = real(region.stripe_size);
      const double stripes = std::ceil((end - first) / stripe / region.slot_count());
      most = std::max(most, std::min(end - first, stripes * stripe));
    }
    return most;
  }

  const CollectivePlan& plan_;
  const AlgorithmRow& row_;
  const AccessSummary& summary_;
  const CollectiveSettings& settings_;
  const machine::Machine& machine_;
  Direction direction_;
  double nodes_;
  double ranks_per_node_;
  RangeStripes stripes_;
};

}  // namespace

double Traffic::readers_per_ost() const {
  return std::max(1.0, writers * stripes.osts_of(bytes / calls) / osts);
}

double RangeStripes::osts_of(double bytes) const {
  return std::clamp(std::ceil(bytes / stripe_bytes), 1.0, slots);
}

double RangeStripes::rows_of(double bytes) const { return std::ceil(bytes / stripe_bytes / slots); }

Traffic traffic_of(const CollectivePlan& plan, const PlanInputs& inputs) {
  return TrafficModel(plan, inputs).traffic();
}

}  // namespace nacre::plan
