// Network: the ranks of a simulated job, their messages and the memory of their nodes.
#ifndef NACRE_SIM_NETWORK_NETWORK_H_
#define NACRE_SIM_NETWORK_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collective/rounds/round_copies.h"
#include "collective/task/transport.h"
#include "machine/machine.h"
#include "plan/nodes/node_map.h"
#include "sim/time/busy_timeline.h"
#include "sim/time/core_queue.h"
#include "sim/time/node_links.h"
#include "sim/time/scheduler.h"
#include "sim/time/shared_bandwidth.h"
#include "store/memory/reserved_memory.h"

namespace nacre::sim {

struct NetworkOptions {
  plan::NodeMap nodes;
  /// Buffers of the program and cycle buffers have no content: bytes in them are not moved, and
  /// only the time that this takes counts.
  bool phantom = false;
  /// Longer messages are not buffered: they leave when their receive is posted.
  std::int64_t buffered_bytes_max = 16 << 10;
  /// Of each node: Transport::available_memory().
  std::int64_t available_memory_bytes = std::int64_t{1} << 40U;
  /// By how much the next message, or the next ring of a rank, comes later. Null: none is late.
  std::function<SimulatedTime()> delay = nullptr;
  /// Whether a rank can neither create nor attach memory that its node shares, of so many bytes.
  /// Null: all can.
  std::function<bool(int rank, std::int64_t bytes)> refuses_memory = nullptr;
  /// Of the computer that emulates all nodes. Must outlive the network. Null: nodes have their own.
  CoreQueue* cores = nullptr;
};

/// What the ranks of a job have sent so far.
struct MessageCounts {
  std::int64_t near = 0;  ///< inside a node
  std::int64_t far = 0;   ///< between nodes
  std::int64_t far_bytes = 0;
};

/// What one rank has sent and received so far, without messages of 0 bytes.
struct RankTraffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  /// Of messages without the program's data: plans, views, groups and agreements. Data is in memory
  /// that the ranks of a node share, in a phantom buffer, or packed by copies(): where the program
  /// has buffers of its own, data that leaves them without a copy counts as control bytes.
  std::int64_t control_bytes = 0;
  std::int64_t peers = 0;  ///< other ranks that sent or received messages
};

/// Messages cost what the machine file says. A message inside a node takes `near_message_ns` and
/// the time of its copy. A message between nodes takes `far_message_ns`, and occupies the links of
/// both nodes for its bytes at `message_bandwidth`; links serve messages in their order, and what
/// else occupies links(). The sends of buffered messages complete at once, other sends when their
/// messages have arrived. Copies share the bandwidth of a core, and the cores and memory of a node.
/// A rank of the node that is rung notices it after `near_message_ns`. Helper threads cost nothing
/// but the time of their file accesses. If the nodes are emulated on one computer, a copy occupies
/// one of its cores, and a message to another node two: one copies it out, the other in.
class Network {
 public:
  /// `scheduler` and `machine` must outlive the network. `memory`: for what the ranks of nodes
  /// share, and for phantom buffers.
  Network(Scheduler& scheduler, const machine::Machine& machine, NetworkOptions options,
          store::ReservedMemory memory);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const plan::NodeMap& nodes() const { return options_.nodes; }
  [[nodiscard]] int size() const { return options_.nodes.rank_count(); }
  /// For the messages of one file, whose number is the same on all ranks. wait() blocks the fiber
  /// that runs.
  [[nodiscard]] std::unique_ptr<collective::Transport> make_transport(int rank,
                                                                      std::uint64_t file = 0);
  [[nodiscard]] collective::RoundCopies& copies(int rank);
  /// Memory without content, for the buffers of all ranks. For phantoms.
  [[nodiscard]] Result<std::span<std::byte>> phantom_buffer(std::int64_t bytes) {
    return memory_.take(bytes);
  }

  [[nodiscard]] const MessageCounts& counts() const { return counts_; }
  [[nodiscard]] RankTraffic traffic(int rank) const;
  /// The number of sends without a receive and of receives without a send.
  [[nodiscard]] std::int64_t unmatched_count() const;
  /// A receive whose length differs from its message, or a message of 0 bytes.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }
  /// When ranks of `node` copied, and when messages occupied the link of the node in the direction
  /// with more of them.
  [[nodiscard]] const BusyTimeline& copy_times(int node) const;
  [[nodiscard]] const BusyTimeline& message_times(int node) const;
  /// The links of the nodes, for what shares them with messages.
  [[nodiscard]] NodeLinks& links() { return links_; }

 private:
  class RankTransport;
  class Copies;
  struct Message;
  using MessagePointer = std::shared_ptr<Message>;

  struct Node {
    std::optional<SharedBandwidth> copies;  // none: copies occupy options_.cores
    BusyTimeline copies_on_cores;
    BusyTimeline sends_busy;
    BusyTimeline receives_busy;
  };
  struct Rank {
    explicit Rank(Scheduler& scheduler) : has_event(scheduler) {}
    FiberQueue has_event;
    std::uint64_t event_count = 0;
    SimulatedTime rung_for = -1;             // a bell of this time is scheduled
    std::deque<std::function<bool()>> jobs;  // that no helper thread has begun
    int thread_count = 0;
    RankTraffic traffic;
    std::vector<int> peers;             // ascending
    const std::byte* packed = nullptr;  // bytes that the rank has packed and not sent yet
  };
  /// Unmatched messages from one rank to another, oldest first: sent, or expected.
  struct Channel {
    std::deque<MessagePointer> sent;
    std::deque<MessagePointer> expected;
  };

  /// From one rank to another, in one file.
  struct Way {
    int source;
    int destination;
    std::uint64_t file;
  };
  [[nodiscard]] collective::MessageId new_id();
  collective::MessageId post_send(const Way& way, std::span<const std::byte> data);
  collective::MessageId post_receive(const Way& way, std::span<std::byte> data);
  [[nodiscard]] SimulatedTime delay() const { return options_.delay ? options_.delay() : 0; }
  void transfer(const MessagePointer& message);
  [[nodiscard]] bool is_data(int source, const std::byte* address);
  void count_message(int rank, int peer, const Message& message);
  void transfer_far(const MessagePointer& message);
  void transfer_on_computer(const MessagePointer& message, SimulatedTime length);
  void arrive(Message& message);
  void deliver(Message& message);
  void complete(collective::MessageId id, int rank);
  bool test(std::span<collective::MessageId> messages);
  void add_event(int rank);
  void ring(int rank);
  void wait(collective::Transport& transport, collective::Condition& condition);
  void run_in_helper_thread(int rank, std::function<bool()> job, int thread_count_max);
  void work(int rank);
  [[nodiscard]] std::uint64_t channel_key(const Way& way) const;
  void fail_by_length(const Way& way, std::size_t sent, std::size_t expected);
  [[nodiscard]] bool moves(const std::byte* address) const {
    return !options_.phantom || !memory_.contains(address);
  }
  void fail(std::string what);

  Scheduler& scheduler_;
  const machine::Machine& machine_;
  NetworkOptions options_;
  store::ReservedMemory memory_;
  std::vector<Node> nodes_;
  NodeLinks links_;
  std::deque<Rank> ranks_;
  std::vector<std::unique_ptr<Copies>> copies_;
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::vector<bool> is_complete_;  // by MessageId - 1
  std::vector<collective::MessageId> unused_ids_;
  MessageCounts counts_;
  std::optional<std::string> failure_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_NETWORK_NETWORK_H_
