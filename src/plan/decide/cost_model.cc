#include "plan/decide/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "machine/machine.h"
#include "plan/decide/traffic.h"
#include "plan/nodes/grouping.h"

namespace nacre::plan {
namespace {

using machine::Channel;
using machine::Machine;

constexpr double nanosecond = 1e-9;
constexpr double microsecond = 1e-6;

double real(std::int64_t value) { return static_cast<double>(value); }

/// The time of `bytes`; none if the bandwidth is not known.
double time_of(double bytes, std::int64_t bandwidth) {
  return bandwidth > 0 ? bytes / real(bandwidth) : 0;
}

/// The time of `bytes` of `nodes` at once.
double time_of(double bytes, const Channel& channel, double nodes) {
  return time_of(bytes, channel.bandwidth) * (1 + channel.client_cost * std::max(0.0, nodes - 1));
}

class CostModel {
 public:
  CostModel(const CollectivePlan& plan, const PlanInputs& inputs, BytesIn place)
      : plan_(plan),
        row_(row_of(plan)),
        summary_(inputs.summary),
        settings_(inputs.settings),
        all_(inputs.participants),
        machine_(*inputs.settings.machine),
        nodes_(std::max(1, inputs.participants.node_count)),
        hosts_(settings_.one_writer_per_node ? 1 : nodes_),
        traffic_(traffic_of(plan, inputs)),
        place_(place) {}

  [[nodiscard]] Prediction predict() {
    if (place_ == BytesIn::servers) {
      access();
    } else {
      access_caches();
    }
    if (row_.exchanges()) {
      exchange();
    } else {
      gather();
    }
    agree();
    total();
    return prediction_;
  }

 private:
  [[nodiscard]] bool writes() const { return all_.direction == Direction::write; }
  [[nodiscard]] double& busy(Resource resource) { return prediction_.of(resource); }
  [[nodiscard]] double ranks_per_host() const { return real(all_.rank_count) / hosts_; }
  [[nodiscard]] double ranks_per_node() const { return real(all_.rank_count) / nodes_; }
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
  /// The time that processes, links, servers and OSTs take.
  void access() {
    std::int64_t call = writes() ? machine_.write_call_ns : machine_.read_call_ns;
    if (share_pages()) call += 2 * machine_.shared_page_ns;
    const double calls = traffic_.calls * real(call) * nanosecond;
    const std::int64_t bandwidth = writes() ? machine_.write_bandwidth : machine_.read_bandwidth;
    calling_ = (calls + time_of(traffic_.bytes, bandwidth)) * share_of_turns();
    busy(Resource::client) = calling_;

    const double ost_bytes = traffic_.fullest_ost_bytes;
    busy(Resource::ost) = time_of(ost_bytes, ost_, traffic_.nodes_per_ost);
    limit_by_requests();
    limit_by_stripes();
    busy(Resource::link) =
        time_of(traffic_.bytes * traffic_.fullest_node, machine_.node_link.bandwidth);
    if (machine_.uplinks > 0) {
      const double used = std::min(real(machine_.uplinks), traffic_.nodes);
      busy(Resource::uplink) =
          time_of(traffic_.bytes / used, machine_.uplink, traffic_.nodes / used);
    }
    if (machine_.osts_per_server > 0) {
      const double osts =
          traffic_.overlaps_next_calls
              ? traffic_.stripes.slots
              : traffic_.stripes.osts_of(traffic_.calls_at_once * real(summary_.bounds.length));
      const double used = std::min(real(machine_.servers()), osts);
      const double nodes = std::min(traffic_.nodes, traffic_.nodes_per_ost * osts / used);
      busy(Resource::server) = time_of(traffic_.bytes / used, machine_.server_link, nodes);
    }
    busy(Resource::locks) = time_of_locks();
  }

  [[nodiscard]] double time_of_locks() const {
    const double lock = real(machine_.lock_latency_us) * microsecond;
    const double latency = real(machine_.ost_latency_us) * microsecond;
    const double piece = std::min(traffic_.bytes / traffic_.calls, traffic_.fullest_ost_bytes);
    double locks = traffic_.shared_pieces / traffic_.osts *
                   (4 * lock + latency + time_of(piece, machine_.ost.bandwidth));
    if (writes() && machine_.wide_locks == 0 && !row_.exchanges()) {
      // Each write waits for a lock of its own. The helper threads of aggregators wait meanwhile.
      const double others = std::max(0.0, traffic_.calls - traffic_.shared_pieces);
      locks += 2 * lock * others / traffic_.writers;
    }
    // What a node writes back waits for what its link has to carry already.
    const double passed_on = traffic_.bytes * traffic_.passed_on;
    return locks + std::max(time_of(passed_on, machine_.node_link.bandwidth),
                            time_of(passed_on, machine_.ost.bandwidth));
  }

  void access_caches() {
    calling_ = time_of(traffic_.bytes, machine_.copy_bandwidth) * share_of_turns();
    busy(Resource::client) = calling_;
  }

  /// Whether several processes of a node write to the same pages, at the ends of their pieces.
  [[nodiscard]] bool share_pages() const {
    const bool have_own_ranges = row_.domains == DomainsOf::file;
    return writes() && !have_own_ranges && writers_per_host() > 1 && summary_.is_interleaved() &&
           !summary_.whole_pages;
  }

  [[nodiscard]] double writers_per_host() const {
    return std::ceil(traffic_.writers / std::min(traffic_.nodes, hosts_));
  }

  /// Processes of a host that want to write at the same time. Aggregators write in turn if all
  /// nodes are parts of one host, but on each node by itself, and they exchange half of the time.
  [[nodiscard]] double writers_at_once() const {
    return plan_.writers_take_turns ? traffic_.nodes / 2 : writers_per_host();
  }

  /// The part of the whole access that processes of the fullest host do one after the other: each
  /// has a core for a part of the time. Writers of a local file take turns, aggregators in order;
  /// others, unless they gather pieces meanwhile, spin for the lock of the file, which costs time
  /// if there are more of them than cores (tmpfs, 4 writers on 2 cores: 2.6 GB/s, one aggregator
  /// 3.2 GB/s; 4 to 16 writers on 16 cores are as fast as one).
  [[nodiscard]] double share_of_turns() const {
    constexpr double spinning = 1.2;
    const double of_host = hosts_ == 1 ? 1 : traffic_.fullest_node;
    if (!writes() || machine_.one_writer == 0) {
      return std::max(traffic_.fullest_writer, of_host / cores());
    }
    const bool spins = writers_at_once() > cores() && !gathers_memory();
    return spins ? spinning * of_host : of_host;
  }

  /// A client gathers pieces of an object that do not follow each other, of all processes of the
  /// node, into one request: 256 at most (real Lustre: every fourth 64 KiB of an object left in
  /// requests of 4 MiB, every fourth 4 KiB in requests of 1 MiB).
  [[nodiscard]] double request_bytes() const {
    constexpr double pieces_max = 256;
    const double longest = real(machine_.rpc_bytes);
    if (!writes()) return longest;
    const double piece = std::min(traffic_.bytes / traffic_.calls, traffic_.stripes.stripe_bytes);
    return std::min(longest, pieces_max * piece);
  }

  /// A node keeps a limited number of requests in flight to an OST, and a process that reads a
  /// limited number of bytes.
  void limit_by_requests() {
    const double latency = real(machine_.ost_latency_us) * microsecond;
    if (latency == 0) return;
    const double request = request_bytes();
    const double turn = latency + time_of(request, ost_.bandwidth);
    const double window = request * real(machine_.rpcs_in_flight) * traffic_.nodes_per_ost;
    double& ost = busy(Resource::ost);
    ost = std::max({ost, traffic_.fullest_ost_bytes / window * turn, time_of_threads(latency)});
    if (writes() || traffic_.in_flight <= 0) return;
    const double waited_for =
        traffic_.waits * std::min(traffic_.in_flight, traffic_.bytes / traffic_.calls);
    const double later = std::max(0.0, traffic_.bytes / traffic_.writers - waited_for);
    double& client = busy(Resource::client);
    client = std::max(client, later / traffic_.in_flight * turn);
  }

  /// The time for which the requests to the fullest OST occupy its threads. Only of reads ahead,
  /// where it was seen to decide: no site measures its threads.
  [[nodiscard]] double time_of_threads(double latency) const {
    if (!is_read_ahead()) return 0;
    const double part = traffic_.fullest_ost_bytes / traffic_.bytes;
    return part * read_requests() * latency / real(machine_.ost_threads);
  }

  /// Requests of all reads. A piece that is shorter than a stripe may lie on two.
  [[nodiscard]] double read_requests() const {
    const double piece = traffic_.bytes / traffic_.calls;
    const double stripe = traffic_.stripes.stripe_bytes;
    return traffic_.calls * (piece < stripe ? 1 + piece / stripe
                                            : std::ceil(piece / std::min(stripe, request_bytes())));
  }

  /// An aggregator reads the stripes of its OSTs in their order, so that the bytes that it keeps in
  /// flight lie on few of them if stripes are long (128 MiB on 16 OSTs by 4 nodes, emulated ranger,
  /// in virtual time: stripes of 1 MiB took 2.3 s with 4 aggregators, 1.2 s with 8).
  void limit_by_stripes() {
    if (writes() || !traffic_.divides_osts || traffic_.stripes.slots <= 1 || traffic_.waits == 0)
      return;
    const double own = std::ceil(traffic_.stripes.slots / traffic_.writers);
    const double at_once =
        std::min(own, 1 + std::floor(traffic_.in_flight / traffic_.stripes.stripe_bytes));
    if (at_once == own) return;
    double& client = busy(Resource::client);
    client = std::max(client,
                      time_of(traffic_.bytes * traffic_.fullest_writer / at_once, ost_.bandwidth));
  }

  [[nodiscard]] bool gathers_memory() const {
    return summary_.memory_run_count > summary_.run_count;
  }

  /// Pieces of memory lie at equal distances, and copying one takes 2 ns, where a piece of the
  /// file, which also has to be found, takes 20 ns (8 bytes of flash, file system in memory).
  [[nodiscard]] double memory_pieces() const { return real(summary_.memory_run_count) / 10; }

  /// Data bytes of the ranks of one host.
  [[nodiscard]] double bytes_of_fullest_host() const {
    const double bytes = real(summary_.bytes);
    return hosts_ == 1 ? bytes : std::max(real(summary_.node_bytes_max()), bytes / nodes_);
  }

  /// Cores of a host on which some of `ranks` work, which are on the nodes with data.
  [[nodiscard]] double busy_cores(double ranks) const {
    const double hosts = std::clamp(real(summary_.node_count()), 1.0, hosts_);
    return std::clamp(ranks / hosts, 1.0, std::max(1.0, cores()));
  }

  /// Seconds of work that takes one core `seconds` for a host's bytes, divided among `ranks` of all
  /// hosts. The rank with the most bytes has its part for itself.
  [[nodiscard]] double shared_by(double ranks, double seconds) const {
    const double of_one = real(summary_.bytes_max) / std::max(1.0, bytes_of_fullest_host());
    return seconds * std::clamp(of_one, 1 / busy_cores(ranks), 1.0);
  }

  /// The time that ranks take to gather or scatter the pieces of their own accesses.
  void gather() {
    const bool sieves = traffic_.calls < real(summary_.run_count);
    if (!gathers_memory() && !sieves) return;
    const double bytes = bytes_of_fullest_host();
    const double pieces = std::max(memory_pieces(), real(summary_.run_count)) / hosts_;
    busy(Resource::cores) =
        shared_by(real(summary_.rank_count), time_of(bytes, machine_.copy_bandwidth) +
                                                 pieces * real(machine_.piece_ns) * nanosecond);
  }

  /// The part of the bytes whose aggregator is on another node. Ranks of a group follow each other
  /// in the file, and are assumed to be on one node if there are enough groups.
  [[nodiscard]] double remote_share() const {
    const double reached = row_.needs_groups() ? traffic_.writers : 1;
    return std::max(0.0, 1 - reached / nodes_);
  }

  /// Ranks of a host that have bytes in the rounds that are under way. Rounds of ranges that do not
  /// overlap hold the bytes of few ranks (flash, 4 ranks, file system in memory: 0.049 s with one
  /// aggregator, 0.037 s with 4).
  [[nodiscard]] double ranks_at_once() const {
    const double ranks = real(summary_.rank_count);
    if (summary_.is_interleaved() || hosts_ > 1) return ranks;
    const double at_once = real(plan_.cycle_bytes * plan_.cycle_buffer_count);
    return std::min(ranks, traffic_.writers * std::ceil(at_once * ranks / real(summary_.bytes)));
  }

  /// The time of copies and messages between the ranks and the aggregators.
  void exchange() {
    const double moved = real(summary_.bytes);
    const double share = hosts_ == 1 ? 1 : traffic_.fullest_node;
    const double received = moved * share;
    const double remote = remote_share();
    // A byte is copied once on its way to an aggregator of its own node. On the way to another node
    // it is copied into a message, and from there, by the aggregator alone, into its buffer.
    const double own = bytes_of_fullest_host();
    const double from_others = received * remote;
    // Listed runs are sent, received and searched one by one: 110 ns each, where runs of strides
    // took 20 ns (climate, local file system, 2 cores).
    const double listed = summary_.lists_runs ? 5 : 0;
    // Rounds in the order of the ranks are read piece by piece (bt, 16 ranks, local file system, 2
    // cores: 150 ns each more than rounds in the order of the file).
    const double read_singly = !writes() && row_.order == RoundOrder::rank ? 5 : 0;
    const double pieces =
        (real(summary_.run_count) * (1 + listed + read_singly) + memory_pieces()) / hosts_;
    const double of_pieces = pieces * real(machine_.piece_ns) * nanosecond;
    const double unpacking = remote * of_pieces / 2;
    busy(Resource::cores) =
        shared_by(ranks_at_once(), time_of(own, machine_.copy_bandwidth) + of_pieces - unpacking) +
        (time_of(from_others, machine_.copy_bandwidth) + unpacking) / pairs_of_cores();
    busy(Resource::memory) = time_of(2 * (own + from_others), machine_.memory_bandwidth);
    // A message a round, and two for the view, between each aggregator and each other node.
    const double others = remote > 0 ? nodes_ - 1 : 0;
    const double messages = (rounds_with_data() + 2) * traffic_.writers * share * others;
    const double sent = time_of(std::max(own, received) * remote, machine_.message_bandwidth);
    // Nodes of one host send by its cores.
    const double far = real(machine_.far_message_ns) * nanosecond;
    busy(Resource::messages) = hosts_ > 1 ? sent + messages * message(machine_.far_message_ns)
                                          : (sent + messages * far) / pairs_of_cores();
  }

  /// Messages to the aggregators of the fullest host that are under way at once. A message between
  /// processes of one host takes two of its cores.
  [[nodiscard]] double pairs_of_cores() const {
    return std::clamp(cores() / 2, 1.0, writers_per_host());
  }

  /// The ranks of a node map the memory that they share (16 ranks on 16 cores: 0.37 ms), and each
  /// aggregator touches its buffers and receives the views (50 to 60 us each). In units of messages
  /// between ranks that have a core each: where ranks wait for cores, only messages take longer (16
  /// ranks on the testbed's two cores: 70 us).
  [[nodiscard]] double time_to_begin() const {
    constexpr double of_rank = 13;
    constexpr double of_aggregator = 35;
    constexpr double of_views = 4;
    constexpr std::int64_t message_ns_max = 1500;
    const double near = real(std::min(machine_.near_message_ns, message_ns_max)) * nanosecond;
    const double views = nodes_ > 1 ? of_views * message(machine_.far_message_ns) : 0;
    return ranks_per_node() * of_rank * near + writers_per_host() * (of_aggregator * near + views);
  }

  void agree() {
    const double near =
        std::log2(std::max(1.0, ranks_per_node())) * message(machine_.near_message_ns);
    const double far = std::log2(nodes_) * message(machine_.far_message_ns);
    // Direct calls that repeat an access agree on the outcome only. Calls in steps keep their
    // groups.
    const bool groups_anew = row_.needs_groups() && !summary_.continues_steps();
    const double trees = groups_anew ? 8 : row_.exchanges() ? 6 : 2;
    double& agreement = busy(Resource::agreement);
    agreement = trees * (near + far);
    if (row_.exchanges()) {
      agreement += rounds_with_data() * message(machine_.near_message_ns);
      // Before the first call only, but the summary tells later calls only by their steps.
      if (!summary_.continues_steps()) agreement += time_to_begin();
    }
    if (groups_anew) {
      // Rank 0 gathers and sorts what each rank accesses.
      const double ranks = real(all_.rank_count);
      agreement += ranks * real(machine_.piece_ns) * nanosecond +
                   time_of(ranks * sizeof(RankLoad), machine_.message_bandwidth);
    }
    if (is_written_back_later() || place_ == BytesIn::caches) return;
    locking_ = 2 * real(machine_.lock_latency_us) * microsecond * traffic_.lock_waits;
    agreement += real(machine_.ost_latency_us) * microsecond + locking_;
    agreement += writes() ? time_of_other_stages() : time_of_waits();
  }

  /// The time that a request takes in the stages on its way to an OST before and after the slowest
  /// one, which counts elsewhere. Short calls overlap, so that no call waits for it.
  [[nodiscard]] double time_of_other_stages() const {
    if (traffic_.overlaps_next_calls) return 0;
    const double request = std::min(request_bytes(), traffic_.bytes / traffic_.writers);
    const double link = time_of(request, machine_.node_link.bandwidth);
    const double server = time_of(request, machine_.server_link.bandwidth);
    const double ost = time_of(request, ost_, traffic_.nodes_per_ost);
    const bool waits_for_link = prediction_.of(Resource::link) > prediction_.of(Resource::ost);
    return server + (waits_for_link ? ost : link);
  }

  /// The time that no answer is on its way while a reader waits for the next one, which comes
  /// `next` after the one before. Meanwhile other readers of the same OST keep it busy, and other
  /// readers of the same node its link (3 nodes with one reader each that read 2 MiB in two pieces
  /// from 4 OSTs, emulated flash Lustre, in virtual time: 0.16 s, of which the OSTs are busy for
  /// 0.087 s and each link for 0.083 s). `stages`: of a piece; the OST first, the link last.
  [[nodiscard]] double time_between_answers(double next,
                                            const std::array<double, 3>& stages) const {
    const double link_readers = traffic_.writers / traffic_.nodes;
    const double ost_idle = std::max(0.0, next - (traffic_.readers_per_ost() - 1) * stages.front());
    const double link_idle = std::max(0.0, next - (link_readers - 1) * stages.back());
    const double slack_of_link =
        std::max(0.0, prediction_.of(Resource::ost) - prediction_.of(Resource::link));
    const double later = traffic_.waits - 1;
    return std::max(later * ost_idle, later * link_idle - slack_of_link);
  }

  /// The time that a process waits for answers, beyond what counts elsewhere: one latency, and of
  /// the OST and the links that an answer passes one after the other, the slowest. After the first
  /// answers the OST serves other readers while one waits. Negative if the latency that counts
  /// elsewhere is not waited for either.
  [[nodiscard]] double time_of_waits() const {
    const double latency = real(machine_.ost_latency_us) * microsecond;
    if (traffic_.waits == 0) return -latency;
    const double piece = traffic_.bytes / traffic_.calls;
    const double request =
        std::min({piece, traffic_.stripes.stripe_bytes, real(machine_.rpc_bytes)});
    const double of_an_ost =
        std::min(piece, traffic_.stripes.rows_of(piece) * traffic_.stripes.stripe_bytes);
    const std::array stages{time_of(of_an_ost, ost_.bandwidth),
                            time_of(request, machine_.server_link.bandwidth),
                            time_of(piece, machine_.node_link.bandwidth)};
    const double others =
        std::accumulate(stages.begin(), stages.end(), 0.0) - *std::ranges::max_element(stages);
    const double next = others + latency;  // from the end of an answer to the begin of the next one
    return others + time_between_answers(next, stages) +
           (traffic_.osts_waited_for - 1) * stages.front() + time_among_nodes(piece, of_an_ost);
  }

  /// The time that nodes wait because they read from the same OSTs.
  [[nodiscard]] double time_among_nodes(double piece, double of_an_ost) const {
    if (traffic_.nodes_per_ost <= 1 || traffic_.others_read_ahead) return 0;
    return std::max(time_of_last_answers(piece), time_in_step(piece, of_an_ost));
  }

  /// Bytes of a node that pass its link at about the same time. A process that waits for each of
  /// its reads has only one on its way.
  [[nodiscard]] double bytes_at_once(double piece) const {
    const bool waits_for_all = traffic_.waits * traffic_.writers >= traffic_.calls;
    const double of_one = waits_for_all ? piece : std::max(piece, traffic_.in_flight);
    return std::min(traffic_.bytes * traffic_.fullest_node,
                    of_one * traffic_.writers / traffic_.nodes);
  }

  /// Readers whose pieces lie on many OSTs wait for the same OSTs. An OST answers one node after
  /// the other, so that the answers to a node come together, and those to the last node pass its
  /// link when all others have theirs (3 nodes with 3 readers each of 0.7 MiB on 4 OSTs, emulated
  /// flash Lustre, in virtual time: 0.128 s, of which the OSTs are busy for 0.087 s and each link
  /// for 0.083 s).
  [[nodiscard]] double time_of_last_answers(double piece) const {
    constexpr double usual = 0.6;
    return usual * (1 - 1 / traffic_.nodes_per_ost) *
           time_of(bytes_at_once(piece), machine_.node_link.bandwidth);
  }

  /// Nodes that begin at the same OST go through the OSTs in step. Each OST serves one of them
  /// after the other, and the link of a node is idle until it is the node's turn, so that the times
  /// of OSTs and links add up instead of overlapping (512 KiB each of 16 ranks on 8 nodes and 16
  /// OSTs: 0.089 s, of which the OSTs are busy for 0.029 s and each link for 0.042 s).
  [[nodiscard]] double time_in_step(double piece, double of_an_ost) const {
    const double request = std::min(of_an_ost, real(machine_.rpc_bytes));
    const double others = request * (traffic_.osts_in_same_order - 1);
    const double reached =
        time_of(std::min(bytes_at_once(piece), others), machine_.node_link.bandwidth);
    const double ost = prediction_.of(Resource::ost);
    const double later = reached + ost - std::max(ost, prediction_.of(Resource::link));
    return std::max(0.0, later) * (1 - 1 / traffic_.nodes_in_same_order);
  }

  /// Without helper threads an aggregator does not gather while it accesses the file, but other
  /// ranks of its node do.
  [[nodiscard]] bool gathers_meanwhile() const {
    if (!settings_.one_writer_per_node) return true;
    return writes() && nodes_ == 1 && cores() > 1 && ranks_at_once() > traffic_.writers;
  }

  /// Nodes write back one call while the next ones take place.
  [[nodiscard]] bool is_written_back_later() const { return writes() && summary_.in_steps; }
  /// Nodes read a call ahead while those before it take place.
  [[nodiscard]] bool is_read_ahead() const { return !writes() && traffic_.waits == 0; }

  /// The time of an exchange and of accesses that overlap in all rounds but one.
  [[nodiscard]] double overlapped(double gathered, double accessed) const {
    double parts = 1;
    if (row_.exchanges() && gathers_meanwhile()) parts = rounds_with_data();
    return std::max(gathered, accessed) + std::min(gathered, accessed) / parts;
  }

  /// Adds the messages that pass the link in the direction of the requests: the bytes of the node's
  /// own ranks that aggregators on other nodes write or read. The aggregator of a group has all
  /// bytes of the ranks of its node. On a node without an aggregator only messages pass.
  void add_messages_to_link() {
    const double own = bytes_of_fullest_host();
    const double kept = row_.needs_groups() ? 1 : traffic_.fullest_node;
    double& link = busy(Resource::link);
    link = std::max(link + time_of(own * (1 - kept), machine_.message_bandwidth),
                    time_of(own * remote_share(), machine_.message_bandwidth));
  }

  void total() {
    const auto most = [&](Resource first, Resource last) {
      const auto begin = prediction_.busy.begin();
      return *std::max_element(begin + static_cast<std::ptrdiff_t>(first),
                               begin + static_cast<std::ptrdiff_t>(last) + 1);
    };
    const double gathered = most(Resource::cores, Resource::messages);
    const bool is_ahead = is_read_ahead();
    const bool is_behind = is_written_back_later() || is_ahead;
    // What nodes write back later or read ahead. A node that reads ahead, and not the process in
    // its call, waits for answers.
    double behind = most(is_ahead ? Resource::client : Resource::link, Resource::ost);
    double accessed = is_ahead ? calling_ : prediction_.of(Resource::client);
    if (!is_behind) accessed = std::max(accessed, behind);
    accessed += prediction_.of(Resource::locks);
    double moved = overlapped(gathered, accessed);
    if (machine_.messages_share_link != 0 && row_.exchanges()) {
      add_messages_to_link();
      behind = std::max(behind, most(Resource::link, Resource::ost));
      if (!is_behind) moved = std::max(moved, behind);
    }
    // While a process waits for a lock, its node does not read ahead.
    const double apart = is_ahead ? locking_ : 0;
    prediction_.seconds =
        apart + std::max(prediction_.of(Resource::agreement) - apart + moved, behind);
  }

  const CollectivePlan& plan_;
  const AlgorithmRow& row_;
  const AccessSummary& summary_;
  const CollectiveSettings& settings_;
  const Participants& all_;
  const Machine& machine_;
  const Channel ost_ = writes() ? machine_.ost : machine_.reading_ost();
  double nodes_;
  double hosts_;  // nodes with cores of their own: a local file system has one host
  Traffic traffic_;
  double calling_ = 0;  // of `client`, the calls themselves, without waiting for answers
  double locking_ = 0;  // of `agreement`, waiting for locks
  BytesIn place_;
  Prediction prediction_;
};

}  // namespace

Resource Prediction::bottleneck() const {
  const auto longest = std::ranges::max_element(busy);
  return static_cast<Resource>(longest - busy.begin());
}

double Prediction::of_storage() const {
  return std::max(
      {of(Resource::link), of(Resource::uplink), of(Resource::server), of(Resource::ost)});
}

double Prediction::seconds_on_slower_storage(double factor) const {
  return std::max(seconds, factor * of_storage());
}

Prediction predict(const CollectivePlan& plan, const PlanInputs& inputs, BytesIn place) {
  return CostModel(plan, inputs, place).predict();
}

}  // namespace nacre::plan
