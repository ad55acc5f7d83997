#include "plan/decide/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "machine/machine.h"
#include "plan/decide/ost_shares.h"
#include "plan/nodes/grouping.h"

namespace nacre::plan {
namespace {

using machine::Channel;
using machine::Machine;

constexpr double nanosecond = 1e-9;
constexpr double microsecond = 1e-6;
/// Of a sieving read.
constexpr double sieve_bytes = 4 << 20;

double real(std::int64_t value) { return static_cast<double>(value); }

/// The time of `bytes`; none if the bandwidth is not known.
double time_of(double bytes, std::int64_t bandwidth) {
  return bandwidth > 0 ? bytes / real(bandwidth) : 0;
}

/// The time of `bytes` of `nodes` at once.
double time_of(double bytes, const Channel& channel, double nodes) {
  return time_of(bytes, channel.bandwidth) * (1 + channel.client_cost * std::max(0.0, nodes - 1));
}

/// The accesses to the file, by all processes that access it.
struct Traffic {
  double bytes = 0;
  double writers = 1;        ///< processes that access the file
  double nodes = 1;          ///< with such processes
  double calls = 1;          ///< of all of them
  double osts = 1;           ///< of the file, that are accessed
  double nodes_per_ost = 1;  ///< that access one OST at the same time
  double shared_pieces = 0;  ///< contiguous accesses that take a lock from another node
  double in_flight = 0;      ///< bytes that one process keeps in flight when it reads
  double waits = 1;          ///< for an answer of an OST, one after the other

  double fullest_writer = 1;  ///< the part of the bytes of the writer that has the most
  double fullest_node = 1;    ///< of the node whose writers have the most

  /// The writers have equal parts of the bytes, and the nodes equal numbers of writers or one less.
  void divide_evenly() {
    fullest_writer = 1 / writers;
    fullest_node = std::ceil(writers / nodes) / writers;
  }
};

/// The stripes of the range that the call accesses. If they are unknown, as before the first write
/// to a component, they are taken for one OST, which costs nothing on a machine without OSTs.
struct Stripes {
  double slots;
  double stripe_bytes;
};

class CostModel {
 public:
  CostModel(const CollectivePlan& plan, const PlanInputs& inputs)
      : plan_(plan),
        summary_(inputs.summary),
        settings_(inputs.settings),
        all_(inputs.participants),
        machine_(*inputs.settings.machine),
        nodes_(std::max(1, inputs.participants.node_count)),
        hosts_(settings_.one_writer_per_node ? 1 : nodes_),
        stripes_{1, std::max(1.0, real(summary_.bounds.length))} {
    if (settings_.has_stripes_of(summary_.bounds)) {
      const StripedRegion& region = settings_.stripes->main_region(summary_.bounds);
      stripes_ = {real(region.slot_count()), real(region.stripe_size)};
    }
  }

  [[nodiscard]] Prediction predict() {
    const AlgorithmRow& row = row_of(plan_);
    Traffic traffic = row.exchanges() ? aggregated(row) : direct();
    meet_in_steps(traffic);
    access(traffic);
    if (row.exchanges()) {
      exchange(row, traffic);
    } else {
      gather(traffic);
    }
    agree(row, traffic);
    total(row, traffic);
    return prediction_;
  }

 private:
  [[nodiscard]] bool writes() const { return all_.direction == Direction::write; }
  [[nodiscard]] double& busy(Resource resource) { return prediction_.of(resource); }
  [[nodiscard]] double ranks_per_host() const { return real(all_.rank_count) / hosts_; }
  /// Ranks of a host that work at the same time.
  [[nodiscard]] double cores() const {
    return machine_.cores == 0 ? ranks_per_host()
                               : std::min(ranks_per_host(), real(machine_.cores));
  }
  /// The time of a message, if its receiver has to wait for a core.
  [[nodiscard]] double message(std::int64_t nanoseconds) const {
    return real(nanoseconds) * nanosecond * ranks_per_host() / cores();
  }
  /// Of the aggregator with the most rounds. A round without data does not take place.
  [[nodiscard]] double rounds_with_data() const {
    const std::int64_t rounds = std::min(plan_.round_count, summary_.run_count);
    return real(std::max<std::int64_t>(1, rounds));
  }
  [[nodiscard]] double osts_of(double bytes) const {
    return std::clamp(std::ceil(bytes / stripes_.stripe_bytes), 1.0, stripes_.slots);
  }

  /// The most stripes of a contiguous range that one OST has.
  [[nodiscard]] double stripes_of_an_ost(double bytes) const {
    return std::ceil(bytes / stripes_.stripe_bytes / stripes_.slots);
  }

  /// The OSTs of an aggregator with `each` bytes, in blocks of stripes that are dealt in turn.
  [[nodiscard]] double osts_in_turn(double writers, double each) const {
    const auto slots = static_cast<std::int64_t>(stripes_.slots);
    const std::int64_t stripes = stripes_in_turn(plan_, settings_);
    const std::int64_t step = stripes * static_cast<std::int64_t>(writers);
    const double places = real(slots / std::gcd(step, slots));
    return std::min(osts_of(each), real(stripes) * places);
  }

  /// Whether each aggregator has the stripes on some OSTs.
  [[nodiscard]] bool divides_osts() const {
    return row_of(plan_).exchanges() && plan_.pattern == DomainPattern::osts;
  }

  /// Each rank accesses its own pieces.
  [[nodiscard]] Traffic direct() const {
    Traffic traffic;
    traffic.bytes = real(summary_.bytes);
    traffic.writers = std::max(1, summary_.rank_count);
    traffic.nodes = std::min(nodes_, traffic.writers);
    traffic.calls = real(summary_.run_count);
    traffic.in_flight = real(machine_.read_bytes);
    const double run_and_gap = real(summary_.span_bytes) / traffic.calls;
    if (!writes() && run_and_gap <= real(settings_.sieving_bytes)) {
      traffic.bytes = real(summary_.span_bytes);
      traffic.calls = std::max(traffic.writers, traffic.bytes / sieve_bytes);
    }
    traffic.divide_evenly();
    traffic.fullest_node = std::max(traffic.fullest_node, part_of_fullest_node());
    count_waits(traffic);
    traffic.osts = osts_of(real(summary_.bounds.length));
    const double span = real(summary_.node_span_bytes()) / traffic.nodes;
    traffic.nodes_per_ost = summary_.slots != 0 ? summary_.nodes_per_slot()
                                                : traffic.nodes * osts_of(span) / traffic.osts;
    traffic.nodes_per_ost = std::max(1.0, traffic.nodes_per_ost);
    if (!writes() || traffic.nodes < 2) return traffic;
    const bool interleave = summary_.node_span_bytes() > summary_.bounds.length;
    const double piece = traffic.bytes / traffic.calls;
    if (machine_.wide_locks == 0 && summary_.whole_pages && summary_.slots != 0) {
      traffic.shared_pieces = 0;
    } else if (interleave) {
      const double from_others = 1 - 1 / traffic.nodes_per_ost;
      traffic.shared_pieces =
          traffic.calls * std::ceil(piece / stripes_.stripe_bytes) * from_others;
    } else if (span < stripes_.stripe_bytes) {
      traffic.shared_pieces = traffic.nodes;
    } else if (machine_.wide_locks != 0) {
      traffic.shared_pieces = traffic.nodes_per_ost * traffic.osts;
    }
    return traffic;
  }

  /// The part of the bytes that the ranks of the node with the most have.
  [[nodiscard]] double part_of_fullest_node() const {
    return real(summary_.node_bytes_max()) / std::max(1.0, real(summary_.bytes));
  }

  /// Bytes of the longest contiguous access of an aggregator.
  [[nodiscard]] double contiguous(const AlgorithmRow& row, double writers) const {
    const double run = real(summary_.bytes) / real(summary_.run_count);
    if (row.order == RoundOrder::rank) return run;
    const double members = real(summary_.rank_count) / writers;
    if (row.needs_groups()) return summary_.is_interleaved() ? run * std::max(1.0, members) : run;
    const bool is_dense = 2 * summary_.distinct_bytes() >= summary_.bounds.length;
    if (!is_dense) return run;
    const bool by_stripes =
        plan_.pattern == DomainPattern::osts || plan_.pattern == DomainPattern::stripes;
    return by_stripes && stripes_.slots > 1 ? real(plan_.block_bytes) : real(plan_.cycle_bytes);
  }

  /// Whether the range has fewer stripes than the file has OSTs.
  [[nodiscard]] bool is_short() const {
    return std::ceil(real(summary_.bounds.length) / stripes_.stripe_bytes) < stripes_.slots;
  }

  /// Short writes load OSTs and links in turn. Nodes keep the bytes of several calls in their
  /// caches, so that all are busy at the same time.
  [[nodiscard]] bool overlaps_next_calls() const { return writes() && is_short(); }

  /// A short read leaves aggregators without bytes: stripes are dealt to them in turn.
  [[nodiscard]] double writers_among_aggregators() const {
    const double aggregators = std::max(1, plan_.aggregator_count);
    const bool leaves_some = plan_.pattern == DomainPattern::osts && !writes() && is_short();
    return leaves_some ? std::min(aggregators, osts_of(real(summary_.bounds.length))) : aggregators;
  }

  /// Aggregators access the file.
  [[nodiscard]] Traffic aggregated(const AlgorithmRow& row) const {
    Traffic traffic;
    const bool reads_range = !writes() && plan_.whole_rounds && !row.needs_groups();
    traffic.bytes = reads_range ? real(plan_.end - plan_.origin) : real(summary_.distinct_bytes());
    traffic.writers = writers_among_aggregators();
    const bool bridges = !writes() && row.needs_groups() && bridges_gaps();
    if (bridges) {  // interleaved groups read each other's pieces too
      const double of_all_groups = traffic.writers * real(summary_.bounds.length);
      traffic.bytes = std::max(traffic.bytes, std::min(spans_of(traffic.writers), of_all_groups));
    }
    const double sets = plan_.aggregator_sets;
    traffic.nodes = std::min({nodes_, traffic.writers, sets > 0 ? sets : nodes_});
    traffic.divide_evenly();
    const double each = traffic.bytes / traffic.writers;
    const double cycle =
        std::clamp(real(std::max<std::int64_t>(1, plan_.cycle_bytes)), 1.0, std::max(1.0, each));
    // A round holds as many bytes as are wanted, and one read bridges the gaps between them.
    traffic.calls =
        bridges ? std::max(traffic.writers, real(summary_.bytes) / cycle)
                : traffic.bytes / std::min(cycle, std::max(1.0, contiguous(row, traffic.writers)));
    const double read_ahead = real(std::max<std::int64_t>(1, machine_.read_bytes));
    traffic.in_flight = plan_.whole_rounds
                            ? read_ahead
                            : real(plan_.cycle_buffer_count) * std::min(cycle, read_ahead);
    if (plan_.whole_rounds || row.needs_groups()) count_waits(traffic);
    traffic.osts = osts_of(real(summary_.bounds.length));
    share_osts(traffic, row);
    return traffic;
  }

  /// The ranges of `groups` of ranks, added up. Ranks are usually a grid: fewer groups than nodes
  /// are then whole rows of it, whose ranges overlap less than those of the nodes.
  [[nodiscard]] double spans_of(double groups) const {
    if (groups > nodes_) return real(summary_.span_bytes);
    const double of_nodes = real(summary_.node_span_bytes());
    return std::max(real(summary_.bounds.length), of_nodes * groups / nodes_);
  }

  /// Whether each reader goes on in the steps of earlier calls, with one read each. Domains of
  /// several aggregators end at whole blocks, wherever the call begins.
  [[nodiscard]] bool goes_on_in_steps(const Traffic& traffic) const {
    const AlgorithmRow& row = row_of(plan_);
    const bool by_ranks = !row.exchanges() || row.order == RoundOrder::rank;
    const bool is_one_range =
        plan_.aggregator_count == 1 && plan_.whole_rounds && plan_.pattern == DomainPattern::even;
    if (!summary_.in_steps) return false;
    if (keep_own_stripes()) return true;
    if (!by_ranks && !is_one_range) return false;
    return row.needs_groups() ? bridges_gaps() && plan_.round_count <= 1
                              : traffic.calls <= traffic.writers;
  }

  /// Whether the stripes of each aggregator are at equal distances, also from call to call: calls
  /// of whole stripes that leave none out.
  [[nodiscard]] bool keep_own_stripes() const {
    const auto stripe = static_cast<std::int64_t>(stripes_.stripe_bytes);
    const auto slots = static_cast<std::int64_t>(stripes_.slots);
    const bool have_equal_slots = slots % std::max(1, plan_.aggregator_count) == 0;
    return divides_osts() && have_equal_slots &&
           summary_.distinct_bytes() == summary_.bounds.length &&
           summary_.bounds.length % stripe == 0 && summary_.bounds.offset % stripe == 0;
  }

  /// Whether a read of one rank's pieces bridges the gaps between them, if these are equal.
  [[nodiscard]] bool bridges_gaps() const {
    const std::int64_t gaps = summary_.run_count - summary_.rank_count;
    return gaps <= 0 || (summary_.span_bytes - summary_.bytes) / gaps <= bridged_gap_bytes;
  }

  /// A node reads ahead from the third read in equal steps on. The pieces of a group of ranks may
  /// lie at any distances. A long read asks for all of its bytes at once.
  void count_waits(Traffic& traffic) const {
    if (writes()) return;
    constexpr double waits_max = 3;
    const bool is_irregular = row_of(plan_).needs_groups() && summary_.is_interleaved();
    traffic.waits = std::max(1.0, traffic.calls / traffic.writers);
    if (!is_irregular) traffic.waits = std::min(traffic.waits, waits_max);
    if (goes_on_in_steps(traffic)) {
      traffic.waits = 0;
      traffic.in_flight = real(machine_.read_bytes);
    }
    if (traffic.in_flight > 0) {
      traffic.in_flight = std::max(traffic.in_flight, traffic.bytes / traffic.calls);
    }
  }

  /// The nodes of aggregators that meet on an OST, and the locks that they take from each other.
  void share_osts(Traffic& traffic, const AlgorithmRow& row) const {
    const DomainPattern pattern = row.needs_groups() ? DomainPattern::even : plan_.pattern;
    if (pattern == DomainPattern::osts) {
      const OstShares shares({.aggregators = static_cast<std::int64_t>(traffic.writers),
                              .slots = static_cast<std::int64_t>(stripes_.slots),
                              .slots_each_min = settings_.osts_per_aggregator,
                              .nodes = static_cast<std::int64_t>(traffic.nodes),
                              .keeps_sets = plan_.aggregator_sets > 0});
      traffic.fullest_writer = shares.of_fullest_aggregator();
      traffic.fullest_node = shares.of_fullest_node();
      traffic.nodes_per_ost = real(shares.nodes_of_a_set());
      return;
    }
    const bool in_turn = pattern == DomainPattern::stripes;
    const double each = traffic.bytes / traffic.writers;
    const double osts_each = in_turn ? osts_in_turn(traffic.writers, each) : osts_of(each);
    traffic.nodes_per_ost = std::max(1.0, traffic.nodes * osts_each / traffic.osts);
    if (!writes() || traffic.nodes <= 1) return;
    if (in_turn) {
      traffic.shared_pieces = machine_.wide_locks != 0 ? traffic.calls : 0;
    } else if (row.needs_groups() && summary_.is_interleaved()) {
      traffic.shared_pieces = traffic.calls;
    } else {
      traffic.shared_pieces = traffic.nodes_per_ost * traffic.osts;
    }
  }

  /// The time that processes, links, servers and OSTs take.
  void access(const Traffic& traffic) {
    const std::int64_t call = writes() ? machine_.write_call_ns : machine_.read_call_ns;
    const double calls = traffic.calls * traffic.fullest_writer * real(call) * nanosecond;
    const std::int64_t bandwidth = writes() ? machine_.write_bandwidth : machine_.read_bandwidth;
    busy(Resource::client) = (calls + time_of(traffic.bytes * traffic.fullest_writer, bandwidth)) *
                             turns(writers_per_host(traffic));

    const double ost_bytes = bytes_of_fullest_ost(traffic);
    busy(Resource::ost) = time_of(ost_bytes, machine_.ost, traffic.nodes_per_ost);
    limit_by_requests(traffic, ost_bytes);
    limit_by_stripes(traffic);
    busy(Resource::link) =
        time_of(traffic.bytes * traffic.fullest_node, machine_.node_link.bandwidth);
    if (machine_.uplinks > 0) {
      const double used = std::min(real(machine_.uplinks), traffic.nodes);
      busy(Resource::uplink) = time_of(traffic.bytes / used, machine_.uplink, traffic.nodes / used);
    }
    if (machine_.osts_per_server > 0) {
      const double osts = overlaps_next_calls()
                              ? stripes_.slots
                              : osts_of(calls_at_once(traffic) * real(summary_.bounds.length));
      const double used = std::min(real(machine_.servers()), osts);
      const double nodes = std::min(traffic.nodes, traffic.nodes_per_ost * osts / used);
      busy(Resource::server) = time_of(traffic.bytes / used, machine_.server_link, nodes);
    }
    const double lock = real(machine_.lock_latency_us) * microsecond;
    const double latency = real(machine_.ost_latency_us) * microsecond;
    const double piece = traffic.bytes / traffic.calls;
    busy(Resource::locks) =
        traffic.shared_pieces / traffic.osts *
        (4 * lock + latency + time_of(std::min(piece, ost_bytes), machine_.ost.bandwidth));
  }

  [[nodiscard]] double writers_per_host(const Traffic& traffic) const {
    return std::ceil(traffic.writers / std::min(traffic.nodes, hosts_));
  }

  /// How often as long as one the processes of a node take that access the file at once.
  /// Aggregators take turns to write; other writers, unless they gather pieces meanwhile, spin for
  /// the lock of the file (tmpfs, 4 writers on 2 cores: 2.6 GB/s, one aggregator 3.2 GB/s).
  [[nodiscard]] double turns(double processes) const {
    constexpr double spinning = 1.2;
    if (!writes() || machine_.one_writer == 0) return std::max(1.0, processes / cores());
    const bool spins = processes > 1 && !plan_.writers_take_turns && !gathers_memory();
    return spins ? spinning * processes : processes;
  }

  /// Reads that go on in steps are ahead by some calls.
  [[nodiscard]] double calls_at_once(const Traffic& traffic) const {
    if (writes() || traffic.waits > 0) return 1;
    return 1 + std::floor(traffic.in_flight * traffic.writers / traffic.bytes);
  }

  /// The requests of several calls bring every node to every OST (steps, emulated tungsten: 0.26 s
  /// by 4 nodes, 0.49 s by 8), unless each has its own. No more nodes meet there than have requests
  /// in flight (calls of 17 stripes on 16 OSTs, emulated ranger, in virtual time: 10 ms by 4 nodes
  /// with 8 requests each, 18 ms by 2).
  void meet_in_steps(Traffic& traffic) const {
    if (calls_at_once(traffic) <= 1 || divides_osts()) return;
    const double request = std::min(stripes_.stripe_bytes, real(machine_.rpc_bytes));
    const double requests = traffic.in_flight * traffic.writers / request / traffic.osts;
    traffic.nodes_per_ost = std::clamp(requests, traffic.nodes_per_ost, traffic.nodes);
  }

  /// A short range has one stripe more on some OSTs than on others. The OSTs of calls at once are
  /// busy at the same time.
  [[nodiscard]] double bytes_of_fullest_ost(const Traffic& traffic) const {
    const double calls = calls_at_once(traffic);
    const double range = real(summary_.bounds.length);
    if (overlaps_next_calls()) return traffic.bytes / stripes_.slots;
    const double density = traffic.bytes / range;  // above 1 if ranks read the same bytes
    const double most = calls > 1 ? most_on_an_ost(calls * range)
                                  : stripes_of_an_ost(range) * stripes_.stripe_bytes;
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

  /// A client may send each piece that does not continue the one before, and those of the other
  /// writers of a node do not, unless each has its own OSTs (tile8, pieces of 1 KiB, emulated
  /// flash: 6,138 requests in 0.8 s).
  [[nodiscard]] double request_bytes(const Traffic& traffic) const {
    const double longest = real(machine_.rpc_bytes);
    if (!writes()) return longest;
    const bool have_own_osts = divides_osts() && traffic.writers <= stripes_.slots;
    const bool alternate = traffic.writers > traffic.nodes && !have_own_osts;
    if (row_of(plan_).exchanges() && !alternate) return longest;
    return std::min({longest, traffic.bytes / traffic.calls, stripes_.stripe_bytes});
  }

  /// A node keeps a limited number of requests in flight to an OST, and a process that reads a
  /// limited number of bytes.
  void limit_by_requests(const Traffic& traffic, double ost_bytes) {
    const double latency = real(machine_.ost_latency_us) * microsecond;
    if (latency == 0) return;
    const double request = request_bytes(traffic);
    const double turn = latency + time_of(request, machine_.ost.bandwidth);
    const double window = request * real(machine_.rpcs_in_flight) * traffic.nodes_per_ost;
    double& ost = busy(Resource::ost);
    ost = std::max(ost, ost_bytes / window * turn);
    if (writes() || traffic.in_flight <= 0) return;
    const double waited_for = traffic.waits * traffic.bytes / traffic.calls;
    const double later = std::max(0.0, traffic.bytes / traffic.writers - waited_for);
    double& client = busy(Resource::client);
    client = std::max(client, later / traffic.in_flight * turn);
  }

  /// An aggregator reads the stripes of its OSTs in their order, so that the bytes that it keeps in
  /// flight lie on few of them if stripes are long (128 MiB on 16 OSTs by 4 nodes, emulated ranger,
  /// in virtual time: stripes of 1 MiB took 2.3 s with 4 aggregators, 1.2 s with 8).
  void limit_by_stripes(const Traffic& traffic) {
    if (writes() || !divides_osts() || stripes_.slots <= 1 || traffic.waits == 0) return;
    const double own = std::ceil(stripes_.slots / traffic.writers);
    const double at_once = std::min(own, 1 + std::floor(traffic.in_flight / stripes_.stripe_bytes));
    if (at_once == own) return;
    double& client = busy(Resource::client);
    client = std::max(
        client, time_of(traffic.bytes * traffic.fullest_writer / at_once, machine_.ost.bandwidth));
  }

  [[nodiscard]] bool gathers_memory() const {
    return summary_.memory_run_count > summary_.run_count;
  }

  /// Pieces of memory lie at equal distances, and copying one takes 2 ns, where a piece of the
  /// file, which also has to be found, takes 20 ns (8 bytes of flash, file system in memory).
  [[nodiscard]] double memory_pieces() const { return real(summary_.memory_run_count) / 10; }

  /// The time that ranks take to gather or scatter the pieces of their own accesses.
  void gather(const Traffic& traffic) {
    const bool sieves = traffic.calls < real(summary_.run_count);
    if (!gathers_memory() && !sieves) return;
    const double bytes = real(summary_.bytes) / hosts_;
    const double pieces = std::max(memory_pieces(), real(summary_.run_count)) / hosts_;
    busy(Resource::cores) =
        (time_of(bytes, machine_.copy_bandwidth) + pieces * real(machine_.piece_ns) * nanosecond) /
        cores();
  }

  /// The part of the bytes whose aggregator is on another node. Ranks of a group follow each other
  /// in the file, and are assumed to be on one node if there are enough groups.
  [[nodiscard]] double remote_share(const AlgorithmRow& row, const Traffic& traffic) const {
    const double reached = row.needs_groups() ? traffic.writers : 1;
    return std::max(0.0, 1 - reached / nodes_);
  }

  /// Ranks of a host that have bytes in the rounds that are under way. Rounds of ranges that do not
  /// overlap hold the bytes of few ranks (flash, 4 ranks, file system in memory: 0.049 s with one
  /// aggregator, 0.037 s with 4).
  [[nodiscard]] double ranks_at_once(const Traffic& traffic) const {
    const double ranks = real(summary_.rank_count);
    if (summary_.is_interleaved() || hosts_ > 1) return ranks;
    const double at_once = real(plan_.cycle_bytes * plan_.cycle_buffer_count);
    return std::min(ranks, traffic.writers * std::ceil(at_once * ranks / real(summary_.bytes)));
  }

  /// The time of copies and messages between the ranks and the aggregators.
  void exchange(const AlgorithmRow& row, const Traffic& traffic) {
    const double moved = real(summary_.bytes);
    const double share = hosts_ == 1 ? 1 : traffic.fullest_node;
    const double received = moved * share;
    const double remote = remote_share(row, traffic);
    // A byte is copied once on its way to an aggregator of its own node. On the way to another node
    // it is copied into a message, and from there into the aggregator's buffer.
    const double own =
        hosts_ == 1 ? moved : std::max(real(summary_.node_bytes_max()), moved / nodes_);
    const double copied = own + received * remote;
    // Listed runs are sent, received and searched one by one: 110 ns each, where runs of strides
    // took 20 ns (climate, local file system, 2 cores).
    constexpr double listed_run_pieces = 5;
    const double pieces = (real(summary_.run_count) + memory_pieces() +
                           listed_run_pieces * real(summary_.listed_run_count)) /
                          hosts_;
    busy(Resource::cores) =
        (time_of(copied, machine_.copy_bandwidth) + pieces * real(machine_.piece_ns) * nanosecond) /
        std::min(cores(), ranks_at_once(traffic) / hosts_);
    busy(Resource::memory) = time_of(2 * copied, machine_.memory_bandwidth);
    const double rounds = rounds_with_data();
    // A message a round, and two for the view, between each aggregator and each other node.
    const double others = remote > 0 ? nodes_ - 1 : 0;
    const double messages =
        (rounds + 2) * traffic.writers * share * others * message(machine_.far_message_ns);
    busy(Resource::messages) =
        time_of(std::max(own, received) * remote, machine_.message_bandwidth) + messages;
    // Nodes of one host send by its cores.
    if (hosts_ == 1) busy(Resource::cores) += messages;
  }

  void agree(const AlgorithmRow& row, const Traffic& traffic) {
    const double ranks_per_node = real(all_.rank_count) / nodes_;
    const double near =
        std::log2(std::max(1.0, ranks_per_node)) * message(machine_.near_message_ns);
    const double far = std::log2(nodes_) * message(machine_.far_message_ns);
    // Direct calls that repeat an access agree on the outcome only.
    const double trees = row.needs_groups() ? 8 : row.exchanges() ? 6 : 2;
    double& agreement = busy(Resource::agreement);
    agreement = trees * (near + far);
    if (row.exchanges()) agreement += rounds_with_data() * message(machine_.near_message_ns);
    if (row.needs_groups()) {
      // Rank 0 gathers and sorts what each rank accesses.
      const double ranks = real(all_.rank_count);
      agreement += ranks * real(machine_.piece_ns) * nanosecond +
                   time_of(ranks * sizeof(RankLoad), machine_.message_bandwidth);
    }
    agreement += real(machine_.ost_latency_us + 2 * machine_.lock_latency_us) * microsecond;
    agreement += writes() ? time_of_other_stages(traffic) : time_of_waits(traffic);
  }

  /// The time that a request takes in the stages on its way to an OST before and after the slowest
  /// one, which counts elsewhere. Short calls overlap, so that no call waits for it. Ranks of a
  /// node that share an OST write its stripes in turn, so that its requests are no longer than
  /// those (16 MiB by 8 nodes on 8 OSTs, emulated flash Lustre, in virtual time: 0.134 s in
  /// requests of 256 KiB by 8 aggregators, 0.123 s in requests of 64 KiB by 16).
  [[nodiscard]] double time_of_other_stages(const Traffic& traffic) const {
    if (overlaps_next_calls()) return 0;
    const double request = std::min(request_bytes(traffic), traffic.bytes / traffic.writers);
    const double link = time_of(request, machine_.node_link.bandwidth);
    const double server = time_of(request, machine_.server_link.bandwidth);
    const double ost = time_of(request, machine_.ost, traffic.nodes_per_ost);
    const bool waits_for_link = prediction_.of(Resource::link) > prediction_.of(Resource::ost);
    return server + (waits_for_link ? ost : link);
  }

  /// Readers that wait for answers of the same OST at once.
  [[nodiscard]] double readers_of_an_ost(const Traffic& traffic, double piece) const {
    return std::max(1.0, traffic.writers * osts_of(piece) / traffic.osts);
  }

  /// The time that a process waits for answers, beyond what counts elsewhere: one latency, and of
  /// the OST and the links that an answer passes one after the other, the slowest. After the first
  /// answers the OST serves other readers while one waits. Negative if the latency that counts
  /// elsewhere is not waited for either.
  [[nodiscard]] double time_of_waits(const Traffic& traffic) const {
    const double latency = real(machine_.ost_latency_us) * microsecond;
    if (traffic.waits == 0) return -latency;
    const double piece = traffic.bytes / traffic.calls;
    const double request = std::min({piece, stripes_.stripe_bytes, real(machine_.rpc_bytes)});
    const double of_an_ost = std::min(piece, stripes_of_an_ost(piece) * stripes_.stripe_bytes);
    const std::array stages{time_of(of_an_ost, machine_.ost.bandwidth),
                            time_of(request, machine_.server_link.bandwidth),
                            time_of(piece, machine_.node_link.bandwidth)};
    const double others =
        std::accumulate(stages.begin(), stages.end(), 0.0) - *std::ranges::max_element(stages);
    const double of_other_readers = (readers_of_an_ost(traffic, piece) - 1) * stages.front();
    return others + (traffic.waits - 1) * std::max(0.0, others + latency - of_other_readers) +
           time_of_last_answers(traffic, piece);
  }

  /// Readers whose pieces lie on many OSTs wait for the same OSTs: the answers to a node come
  /// together, and those to the last node pass its link when all others have theirs (1 MiB each of
  /// 16 ranks on 8 nodes, emulated flash Lustre, in virtual time: 0.163 s, of which the OSTs are
  /// busy for 0.124 s and each link for 0.083 s).
  [[nodiscard]] double time_of_last_answers(const Traffic& traffic, double piece) const {
    if (traffic.nodes_per_ost <= 1) return 0;
    constexpr double usual = 0.35;
    const double of_node = traffic.bytes * traffic.fullest_node;
    const double in_flight = std::max(piece, traffic.in_flight) * traffic.writers / traffic.nodes;
    return usual * (1 - 1 / traffic.nodes_per_ost) *
           time_of(std::min(of_node, in_flight), machine_.node_link.bandwidth);
  }

  /// Without helper threads an aggregator does not gather while it accesses the file, but other
  /// ranks of its node do.
  [[nodiscard]] bool gathers_meanwhile(const Traffic& traffic) const {
    if (!settings_.one_writer_per_node) return true;
    return writes() && nodes_ == 1 && cores() > 1 && ranks_at_once(traffic) > traffic.writers;
  }

  void total(const AlgorithmRow& row, const Traffic& traffic) {
    const auto most = [&](Resource first, Resource last) {
      const auto begin = prediction_.busy.begin();
      return *std::max_element(begin + static_cast<std::ptrdiff_t>(first),
                               begin + static_cast<std::ptrdiff_t>(last) + 1);
    };
    const double gathered = most(Resource::cores, Resource::messages);
    const double accessed = most(Resource::client, Resource::ost) + prediction_.of(Resource::locks);
    double seconds = prediction_.of(Resource::agreement) + std::max(gathered, accessed);
    if (!row.exchanges()) {
      seconds += std::min(gathered, accessed);
    } else {
      const double overlapping = gathers_meanwhile(traffic) ? rounds_with_data() : 1;
      seconds += std::min(gathered, accessed) / overlapping;
    }
    prediction_.seconds = seconds;
  }

  const CollectivePlan& plan_;
  const AccessSummary& summary_;
  const CollectiveSettings& settings_;
  const Participants& all_;
  const Machine& machine_;
  double nodes_;
  double hosts_;  // nodes with cores of their own: a local file system has one host
  Stripes stripes_;
  Prediction prediction_;
};

}  // namespace

Resource Prediction::bottleneck() const {
  const auto longest = std::ranges::max_element(busy);
  return static_cast<Resource>(longest - busy.begin());
}

Prediction predict(const CollectivePlan& plan, const PlanInputs& inputs) {
  return CostModel(plan, inputs).predict();
}

}  // namespace nacre::plan
