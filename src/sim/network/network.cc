#include "sim/network/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plan/nodes/rank_tree.h"

namespace nacre::sim {
namespace {

using collective::MessageId;

constexpr double nanoseconds_per_second = 1e9;

/// The time of `bytes` at `bandwidth` bytes per second; 0: unlimited.
SimulatedTime time_of(std::size_t bytes, std::int64_t bandwidth) {
  if (bandwidth <= 0) return 0;
  return std::llround(static_cast<double>(bytes) * nanoseconds_per_second /
                      static_cast<double>(bandwidth));
}

/// The rates of the copies of a node. `memory_bandwidth` counts a byte twice: read and written.
SharedBandwidth::Rates copy_rates(const machine::Machine& machine) {
  const auto each = static_cast<double>(machine.copy_bandwidth);
  const double memory = static_cast<double>(machine.memory_bandwidth) / 2;
  const double cores = each * static_cast<double>(machine.cores);
  if (memory > 0 && cores > 0) return {each, std::min(memory, cores)};
  return {each, std::max(memory, cores)};
}

/// The time of a copy on one of `cores`, all of which copy.
SimulatedTime copy_time(const machine::Machine& machine, const CoreQueue& cores,
                        std::int64_t bytes) {
  const SharedBandwidth::Rates rates = copy_rates(machine);
  double rate = rates.all / static_cast<double>(cores.count());
  if (rates.each > 0) rate = rate > 0 ? std::min(rate, rates.each) : rates.each;
  return time_of(static_cast<std::size_t>(bytes), std::llround(rate));
}

/// The number of runs of data bytes of a view, as the cursor yields them.
std::int64_t run_count(plan::RunCursor cursor) {
  std::int64_t count = 0;
  for (plan::RunRows rows = cursor.next_rows(); rows.rows > 0; rows = cursor.next_rows()) {
    count += rows.rows * rows.row.count;
  }
  return count;
}

std::int64_t run_count(const plan::TiledMap& view, collective::RoundCopies::Pieces pieces) {
  std::int64_t count = 0;
  for (const plan::RoundPiece& piece : pieces) {
    count += run_count(plan::RunCursor(view, piece.first_byte, piece.byte_count));
  }
  return count;
}

/// The number of marked runs.
std::int64_t run_count(const collective::Coverage& marked) {
  std::int64_t count = 0;
  for (Extent run = marked.next(0); !run.empty(); run = marked.next(run.end())) ++count;
  return count;
}

}  // namespace

struct Network::Message {
  int source;
  int destination;
  std::size_t bytes;
  MessageId send = 0;  // 0: complete
  MessageId receive = 0;
  std::span<const std::byte> from = {};
  std::span<std::byte> to = {};
  std::vector<std::byte> buffer = {};
  bool is_buffered = false;
  bool is_data = false;
  bool is_received = false;  // `to` is set
  bool has_arrived = false;
};

/// Copies take the time that they take on the node, and phantoms are not copied. The bytes move at
/// the end of that time: whoever does not wait for them finds the old ones.
class Network::Copies final : public collective::RoundCopies {
 public:
  Copies(Network& network, int rank)
      : network_(network),
        rank_(network.ranks_[static_cast<std::size_t>(rank)]),
        node_(network.nodes_[static_cast<std::size_t>(network.nodes().node_of(rank))]),
        is_phantom_(network.options_.phantom) {}

  void copy_in(const collective::ExchangeAccess& access, const plan::RoundPiece& piece,
               std::byte* buffer, collective::Coverage& coverage) override {
    pass_time(piece.byte_count, runs_of(access, piece));
    if (is_phantom_) {
      collective::mark_piece(coverage, access.placed.view, piece, 0);
    } else {
      RoundCopies::copy_in(access, piece, buffer, coverage);
    }
  }
  void copy_out(const collective::ExchangeAccess& access, const plan::RoundPiece& piece,
                std::byte* buffer) override {
    pass_time(piece.byte_count, runs_of(access, piece));
    if (!is_phantom_) RoundCopies::copy_out(access, piece, buffer);
  }
  void gather(const collective::ExchangeAccess& access, Pieces pieces,
              std::span<std::byte> packed) override {
    pass_time(std::ssize(packed), runs_of(access, pieces));
    rank_.packed = packed.data();
    if (!is_phantom_) RoundCopies::gather(access, pieces, packed);
  }
  void scatter(const collective::ExchangeAccess& access, Pieces pieces,
               std::span<const std::byte> packed) override {
    pass_time(std::ssize(packed), runs_of(access, pieces));
    if (!is_phantom_) RoundCopies::scatter(access, pieces, packed);
  }
  void pack(const plan::TiledMap& view, Pieces pieces, std::byte* buffer,
            std::span<std::byte> packed) override {
    pass_time(std::ssize(packed), run_count(view, pieces));
    rank_.packed = packed.data();
    if (!is_phantom_) RoundCopies::pack(view, pieces, buffer, packed);
  }
  void unpack(const plan::TiledMap& view, Pieces pieces, std::span<const std::byte> packed,
              std::byte* buffer) override {
    pass_time(std::ssize(packed), run_count(view, pieces));
    if (!is_phantom_) RoundCopies::unpack(view, pieces, packed, buffer);
  }
  void pack(const collective::Coverage& marked, const std::byte* buffer,
            std::span<std::byte> packed) override {
    pass_time(std::ssize(packed), run_count(marked));
    rank_.packed = packed.data();
    if (!is_phantom_) RoundCopies::pack(marked, buffer, packed);
  }
  void unpack(const collective::Coverage& marked, std::byte* buffer,
              std::span<const std::byte> packed) override {
    pass_time(std::ssize(packed), run_count(marked));
    if (!is_phantom_) RoundCopies::unpack(marked, buffer, packed);
  }

 private:
  /// The runs of a piece in the memory of its rank.
  static std::int64_t runs_in_memory(const collective::ExchangeAccess& access,
                                     const plan::RoundPiece& piece) {
    return run_count(plan::RunCursor({access.memory.type, 0},
                                     access.memory_position(piece.first_byte), piece.byte_count));
  }
  /// A copy has as many pieces as the bounds of its runs in the file and in memory divide it into.
  static std::int64_t runs_of(const collective::ExchangeAccess& access,
                              const plan::RoundPiece& piece) {
    return run_count(access.placed.view, {&piece, 1}) + runs_in_memory(access, piece) - 1;
  }
  /// A copy between memory and a message has as many as the runs in memory.
  static std::int64_t runs_of(const collective::ExchangeAccess& access, Pieces pieces) {
    std::int64_t count = 0;
    for (const plan::RoundPiece& piece : pieces) count += runs_in_memory(access, piece);
    return count;
  }
  void pass_time(std::int64_t bytes, std::int64_t pieces) {
    const SimulatedTime for_pieces = pieces * network_.machine_.piece_ns;
    if (node_.copies) {
      network_.scheduler_.sleep(for_pieces);
      node_.copies->transfer(bytes);
      return;
    }
    CoreQueue& cores = *network_.options_.cores;
    const SimulatedTime length = for_pieces + copy_time(network_.machine_, cores, bytes);
    const SimulatedTime end = cores.occupy(network_.scheduler_.now(), length);
    node_.copies_on_cores.add(end - length, end);
    network_.scheduler_.sleep_until(end);
  }

  Network& network_;
  Rank& rank_;
  Node& node_;
  bool is_phantom_;
};

class Network::RankTransport final : public collective::Transport {
 public:
  RankTransport(Network& network, int rank, std::uint64_t file)
      : network_(network),
        rank_(rank),
        file_(file),
        tree_(plan::tree_of_nodes(network.nodes(), rank)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return network_.size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return network_.nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return tree_; }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    return network_.post_receive({source, rank_, file_}, data);
  }
  bool test(std::span<MessageId> messages) override { return network_.test(messages); }
  void ring(int rank) override { network_.ring(rank); }
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override {
    network_.run_in_helper_thread(rank_, std::move(job), thread_count_max);
  }
  void wait(collective::Condition& condition) override { network_.wait(*this, condition); }
  [[nodiscard]] Result<store::SharedMemory> create_shared_memory(
      store::SharedMemory::Kind /*kind*/, std::uint64_t id, std::int64_t bytes,
      const std::string& /*purpose*/) override {
    if (refuses(bytes)) return refused();
    Result<std::span<std::byte>> memory = network_.memory_.take(bytes);
    if (!memory) return std::move(memory).error();
    return store::SharedMemory::lend(id, *memory);
  }
  [[nodiscard]] Result<store::SharedMemory> attach_shared_memory(
      const store::SharedMemoryAddress& address, std::int64_t bytes,
      const std::string& purpose) override {
    if (refuses(bytes)) return refused();
    return collective::Transport::attach_shared_memory(address, bytes, purpose);
  }
  [[nodiscard]] std::int64_t available_memory() override {
    return network_.options_.available_memory_bytes;
  }
  [[nodiscard]] std::int64_t core_count() override { return network_.machine_.cores; }

 private:
  [[nodiscard]] MessageId post_send(int destination, std::span<const std::byte> data) override {
    return network_.post_send({rank_, destination, file_}, data);
  }

  [[nodiscard]] bool refuses(std::int64_t bytes) const {
    const auto& refuses_memory = network_.options_.refuses_memory;
    return refuses_memory && refuses_memory(rank_, bytes);
  }
  static Error refused() {
    return {ErrorClass::no_mem, 0, "memory that the ranks of a node share is refused"};
  }

  Network& network_;
  int rank_;
  std::uint64_t file_;
  plan::RankTree tree_;
};

Network::Network(Scheduler& scheduler, const machine::Machine& machine, NetworkOptions options,
                 store::ReservedMemory memory)
    : scheduler_(scheduler),
      machine_(machine),
      options_(std::move(options)),
      memory_(std::move(memory)),
      nodes_(static_cast<std::size_t>(options_.nodes.node_count())),
      links_(options_.nodes.node_count()) {
  if (options_.cores == nullptr) {
    for (Node& node : nodes_) node.copies.emplace(scheduler, copy_rates(machine));
  }
  for (int rank = 0; rank < size(); ++rank) {
    ranks_.emplace_back(scheduler);
    copies_.push_back(std::make_unique<Copies>(*this, rank));
  }
}

Network::~Network() = default;

std::unique_ptr<collective::Transport> Network::make_transport(int rank, std::uint64_t file) {
  return std::make_unique<RankTransport>(*this, rank, file);
}

collective::RoundCopies& Network::copies(int rank) {
  return *copies_[static_cast<std::size_t>(rank)];
}

const BusyTimeline& Network::copy_times(int node) const {
  const Node& of = nodes_[static_cast<std::size_t>(node)];
  return of.copies ? of.copies->busy_times() : of.copies_on_cores;
}

const BusyTimeline& Network::message_times(int node) const {
  const Node& of = nodes_[static_cast<std::size_t>(node)];
  const bool receives_more = of.receives_busy.total() > of.sends_busy.total();
  return receives_more ? of.receives_busy : of.sends_busy;
}

std::int64_t Network::unmatched_count() const {
  std::int64_t count = 0;
  for (const auto& [key, channel] : channels_) {
    count += std::ssize(channel.sent) + std::ssize(channel.expected);
  }
  return count;
}

void Network::fail(std::string what) {
  if (!failure_) failure_ = std::move(what);
}

// ---- messages ----

std::uint64_t Network::channel_key(const Way& way) const {
  const auto ranks = static_cast<std::uint64_t>(size());
  return (way.file * ranks + static_cast<std::uint64_t>(way.source)) * ranks +
         static_cast<std::uint64_t>(way.destination);
}

void Network::fail_by_length(const Way& way, std::size_t sent, std::size_t expected) {
  fail("rank " + std::to_string(way.source) + " sends " + std::to_string(sent) + " bytes, rank " +
       std::to_string(way.destination) + " expects " + std::to_string(expected));
}

MessageId Network::new_id() {
  if (unused_ids_.empty()) {
    is_complete_.push_back(false);
    return is_complete_.size();
  }
  const MessageId id = unused_ids_.back();
  unused_ids_.pop_back();
  is_complete_[id - 1] = false;
  return id;
}

/// The oldest of `waiting`, or a new message that is put into `others`.
template <class Queue, class Make>
auto match(Queue& waiting, Queue& others, const Make& make) {
  if (waiting.empty()) return others.emplace_back(make());
  auto message = std::move(waiting.front());
  waiting.pop_front();
  return message;
}

MessageId Network::post_send(const Way& way, std::span<const std::byte> data) {
  if (data.empty()) fail("rank " + std::to_string(way.source) + " sends a message of 0 bytes");
  const std::uint64_t key = channel_key(way);
  Channel& channel = channels_[key];
  const MessagePointer message = match(channel.expected, channel.sent, [&] {
    return std::make_shared<Message>(Message{way.source, way.destination, data.size()});
  });
  if (channel.sent.empty() && channel.expected.empty()) channels_.erase(key);
  const MessageId id = new_id();
  if (message->bytes != data.size()) {
    fail_by_length(way, data.size(), message->bytes);
    return id;
  }
  message->from = data;
  message->is_data = is_data(way.source, data.data());
  message->is_buffered = std::ssize(data) <= options_.buffered_bytes_max;
  if (message->is_buffered) {
    if (moves(data.data())) {
      message->buffer.assign(data.begin(), data.end());
      message->from = message->buffer;
    }
    is_complete_[id - 1] = true;
  } else {
    message->send = id;
  }
  if (message->is_buffered || message->is_received) transfer(message);
  return id;
}

MessageId Network::post_receive(const Way& way, std::span<std::byte> data) {
  const std::uint64_t key = channel_key(way);
  Channel& channel = channels_[key];
  const MessagePointer message = match(channel.sent, channel.expected, [&] {
    return std::make_shared<Message>(Message{way.source, way.destination, data.size()});
  });
  if (channel.sent.empty() && channel.expected.empty()) channels_.erase(key);
  const MessageId id = new_id();
  if (message->bytes != data.size()) {
    fail_by_length(way, message->bytes, data.size());
    return id;
  }
  message->to = data;
  message->receive = id;
  message->is_received = true;
  if (message->has_arrived) {
    deliver(*message);
  } else if (message->send != 0) {
    transfer(message);
  }
  return id;
}

/// Whether a message that a rank sends from `address` holds the program's data. A rank sends what
/// it packs before it packs again.
bool Network::is_data(int source, const std::byte* address) {
  Rank& of = ranks_[static_cast<std::size_t>(source)];
  if (memory_.contains(address)) return true;
  if (of.packed != address) return false;
  of.packed = nullptr;
  return true;
}

void Network::count_message(int rank, int peer, const Message& message) {
  Rank& of = ranks_[static_cast<std::size_t>(rank)];
  const auto bytes = static_cast<std::int64_t>(message.bytes);
  ++of.traffic.messages;
  of.traffic.bytes += bytes;
  if (!message.is_data) of.traffic.control_bytes += bytes;
  const auto at = std::ranges::lower_bound(of.peers, peer);
  if (at != of.peers.end() && *at == peer) return;
  of.peers.insert(at, peer);
  ++of.traffic.peers;
}

RankTraffic Network::traffic(int rank) const {
  return ranks_[static_cast<std::size_t>(rank)].traffic;
}

/// Begins to move a message.
void Network::transfer(const MessagePointer& message) {
  count_message(message->source, message->destination, *message);
  count_message(message->destination, message->source, *message);
  if (nodes().node_of(message->source) != nodes().node_of(message->destination)) {
    transfer_far(message);
    return;
  }
  ++counts_.near;
  const SimulatedTime length =
      machine_.near_message_ns + time_of(message->bytes, machine_.copy_bandwidth) + delay();
  scheduler_.at(scheduler_.now() + length, [this, message] { arrive(*message); });
}

/// The message leaves when the link of its node is free, and enters the other node when that link
/// is free. Both links are occupied at the same time, `far_message_ns` apart.
void Network::transfer_far(const MessagePointer& message) {
  ++counts_.far;
  counts_.far_bytes += static_cast<std::int64_t>(message->bytes);
  const SimulatedTime length = time_of(message->bytes, machine_.message_bandwidth);
  if (options_.cores != nullptr) {
    transfer_on_computer(message, length);
    return;
  }
  const int from = nodes().node_of(message->source);
  const SimulatedTime leaves = links_.occupy(from, LinkSide::out, scheduler_.now(), length);
  nodes_[static_cast<std::size_t>(from)].sends_busy.add(leaves, leaves + length);
  scheduler_.at(leaves + machine_.far_message_ns + delay(), [this, message, length] {
    const int to = nodes().node_of(message->destination);
    const SimulatedTime enters = links_.occupy(to, LinkSide::in, scheduler_.now(), length);
    nodes_[static_cast<std::size_t>(to)].receives_busy.add(enters, enters + length);
    scheduler_.at(enters + length, [this, message] { arrive(*message); });
  });
}

/// One core copies the message out of the memory of the sender, one into that of the receiver.
void Network::transfer_on_computer(const MessagePointer& message, SimulatedTime length) {
  const SimulatedTime now = scheduler_.now();
  const SimulatedTime end =
      std::max(options_.cores->occupy(now, length), options_.cores->occupy(now, length));
  nodes_[static_cast<std::size_t>(nodes().node_of(message->source))].sends_busy.add(end - length,
                                                                                    end);
  scheduler_.at(end + machine_.far_message_ns + delay(), [this, message] { arrive(*message); });
}

void Network::arrive(Message& message) {
  message.has_arrived = true;
  if (message.send != 0) complete(message.send, message.source);
  if (message.is_received) deliver(message);
}

void Network::deliver(Message& message) {
  if (moves(message.from.data()) && moves(message.to.data())) {
    std::memcpy(message.to.data(), message.from.data(), message.bytes);
  }
  complete(message.receive, message.destination);
}

void Network::complete(MessageId id, int rank) {
  is_complete_[id - 1] = true;
  add_event(rank);
}

bool Network::test(std::span<MessageId> messages) {
  const bool all_complete =
      std::ranges::all_of(messages, [&](MessageId id) { return id == 0 || is_complete_[id - 1]; });
  if (!all_complete) return false;
  for (MessageId& id : messages) {
    if (id != 0) unused_ids_.push_back(std::exchange(id, 0));
  }
  return true;
}

// ---- ranks ----

void Network::add_event(int rank) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  ++it.event_count;
  it.has_event.notify_all();
}

void Network::ring(int rank) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  const SimulatedTime time = scheduler_.now() + machine_.near_message_ns + delay();
  if (std::exchange(it.rung_for, time) == time) return;
  scheduler_.at(time, [this, rank] {
    ranks_[static_cast<std::size_t>(rank)].rung_for = -1;
    add_event(rank);
  });
}

void Network::wait(collective::Transport& transport, collective::Condition& condition) {
  Rank& it = ranks_[static_cast<std::size_t>(transport.rank())];
  while (true) {
    const std::uint64_t seen = it.event_count;
    if (condition.ready(transport)) return;
    if (it.event_count == seen) it.has_event.wait();
  }
}

void Network::run_in_helper_thread(int rank, std::function<bool()> job, int thread_count_max) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  it.jobs.push_back(std::move(job));
  if (it.thread_count >= thread_count_max) return;
  ++it.thread_count;
  scheduler_.start("a helper thread of rank " + std::to_string(rank), [this, rank] { work(rank); });
}

/// Body of a helper thread: runs jobs until there is none.
void Network::work(int rank) {
  Rank& it = ranks_[static_cast<std::size_t>(rank)];
  while (!it.jobs.empty()) {
    const std::function<bool()> job = std::move(it.jobs.front());
    it.jobs.pop_front();
    for (bool again = true; again;) {
      again = job();
      add_event(rank);
    }
  }
  --it.thread_count;
}

}  // namespace nacre::sim
