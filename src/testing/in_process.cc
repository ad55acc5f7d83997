#include "testing/in_process.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/rounding.h"
#include "base/worker_threads.h"

namespace nacre::testing {

namespace {

plan::NodeMap nodes_of(const InProcessOptions& options) {
  const auto node_count = static_cast<int>(divide_up(options.rank_count, options.ranks_per_node));
  std::vector<plan::NodeMap::Run> runs;
  for (int rank = 0; rank < options.rank_count; ++rank) {
    const int node = options.deals_ranks ? rank % node_count : rank / options.ranks_per_node;
    const plan::NodeMap::Run run{static_cast<std::uint64_t>(node + 1), 1};
    plan::append_runs(runs, {&run, 1});
  }
  return plan::NodeMap::from_runs(runs);
}

}  // namespace

class InProcessNetwork::RankTransport final : public collective::Transport {
 public:
  RankTransport(InProcessNetwork& network, int rank)
      : network_(network), rank_(rank), tree_(plan::tree_of_nodes(network.nodes(), rank)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return network_.size(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return tree_; }
  [[nodiscard]] collective::MessageId receive(int source, std::span<std::byte> data) override {
    return network_.post_receive(rank_, source, data);
  }
  bool test(std::span<collective::MessageId> messages) override {
    return network_.test(rank_, messages);
  }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return network_.nodes(); }
  void ring(int rank) override { network_.ring(rank); }
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override {
    network_.run_in_helper_thread(rank_, std::move(job), thread_count_max);
  }
  void wait(collective::Condition& condition) override {
    std::uint64_t seen = network_.events_of(rank_);
    while (!condition.ready(*this)) {
      if (!network_.wait_for_event(rank_, seen)) {
        std::fprintf(stderr, "rank %d: wait() cannot complete: %s\n", rank_,
                     network_.failure()->c_str());
        std::abort();
      }
      seen = network_.events_of(rank_);
    }
  }

 private:
  [[nodiscard]] collective::MessageId post_send(int destination,
                                                std::span<const std::byte> data) override {
    return network_.post_send(rank_, destination, data);
  }

  InProcessNetwork& network_;
  int rank_;
  plan::RankTree tree_;
};

InProcessNetwork::InProcessNetwork(const InProcessOptions& options)
    : rank_count_(options.rank_count),
      nodes_(nodes_of(options)),
      send_mode_(options.send_mode),
      random_(options.seed),
      ranks_(static_cast<std::size_t>(options.rank_count)) {
  for (int rank = 0; rank < rank_count_; ++rank) {
    transports_.push_back(std::make_unique<RankTransport>(*this, rank));
  }
}

InProcessNetwork::~InProcessNetwork() {
  std::unique_lock guard(mutex_);
  work_ended_.wait(guard, [&] { return helper_jobs_ == 0; });
}

void InProcessNetwork::run_in_helper_thread(int rank, std::function<bool()> job,
                                            int thread_count_max) {
  {
    const std::lock_guard guard(mutex_);
    ++helper_jobs_;
  }
  run_on_worker(
      [this, rank, job = std::move(job)] {
        for (bool again = true; again;) {
          again = job();
          const std::lock_guard guard(mutex_);
          ++activity_;
          add_event(ranks_[static_cast<std::size_t>(rank)]);
        }
        const std::lock_guard guard(mutex_);
        --helper_jobs_;
        work_ended_.notify_all();
      },
      thread_count_max);
}

std::int64_t InProcessNetwork::helper_jobs() const {
  const std::lock_guard guard(mutex_);
  return helper_jobs_;
}

collective::Transport& InProcessNetwork::transport(int rank) {
  return *transports_[static_cast<std::size_t>(rank)];
}

std::optional<std::string> InProcessNetwork::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

std::int64_t InProcessNetwork::unmatched_count() const {
  const std::lock_guard guard(mutex_);
  std::int64_t count = 0;
  for (const auto& [pair, channel] : channels_) {
    count += std::ssize(channel.sends) + std::ssize(channel.receives);
  }
  return count;
}

std::int64_t InProcessNetwork::sent_count(int rank) const {
  const std::lock_guard guard(mutex_);
  return ranks_[static_cast<std::size_t>(rank)].sent_count;
}

std::uint64_t InProcessNetwork::activity() const {
  const std::lock_guard guard(mutex_);
  return activity_;
}

collective::MessageId InProcessNetwork::post_send(int source, int destination,
                                                  std::span<const std::byte> data) {
  const std::lock_guard guard(mutex_);
  Rank& rank = ranks_[static_cast<std::size_t>(source)];
  const collective::MessageId id = rank.next_id++;
  Slot& slot = rank.slots[id];
  slot.is_send = true;
  slot.peer = destination;
  slot.from = data;
  const bool buffered =
      send_mode_ == SendMode::buffered || (send_mode_ == SendMode::mixed && random_() % 2 == 0);
  if (buffered) {
    slot.buffer.assign(data.begin(), data.end());
    slot.from = slot.buffer;
    slot.complete = true;
  }
  if (data.empty()) fail_locked("rank " + std::to_string(source) + " sends a message of 0 bytes");
  ++rank.sent_count;
  channels_[{source, destination}].sends.push_back(id);
  match(source, destination);
  return id;
}

collective::MessageId InProcessNetwork::post_receive(int destination, int source,
                                                     std::span<std::byte> data) {
  const std::lock_guard guard(mutex_);
  Rank& rank = ranks_[static_cast<std::size_t>(destination)];
  const collective::MessageId id = rank.next_id++;
  Slot& slot = rank.slots[id];
  slot.peer = source;
  slot.to = data;
  channels_[{source, destination}].receives.push_back(id);
  match(source, destination);
  return id;
}

void InProcessNetwork::match(int source, int destination) {
  ++activity_;
  Channel& channel = channels_[{source, destination}];
  if (channel.sends.empty() || channel.receives.empty() || failure_) return;
  Rank& sender = ranks_[static_cast<std::size_t>(source)];
  Rank& receiver = ranks_[static_cast<std::size_t>(destination)];
  const collective::MessageId send_id = channel.sends.front();
  Slot& send = sender.slots[send_id];
  Slot& receive = receiver.slots[channel.receives.front()];
  if (send.from.size() != receive.to.size()) {
    fail_locked("rank " + std::to_string(source) + " sends " + std::to_string(send.from.size()) +
                " bytes, rank " + std::to_string(destination) + " expects " +
                std::to_string(receive.to.size()));
    return;
  }
  if (!send.from.empty()) std::memcpy(receive.to.data(), send.from.data(), send.from.size());
  receive.complete = true;
  // If test() has already completed a buffered send, its slot existed only for `buffer`.
  if (send.complete && send.peer < 0) {
    sender.slots.erase(send_id);
  } else {
    send.complete = true;
    send.from = {};
  }
  channel.sends.pop_front();
  channel.receives.pop_front();
  add_event(sender);
  add_event(receiver);
}

void InProcessNetwork::add_event(Rank& rank) {
  ++rank.event_count;
  rank.has_event->notify_all();
}

void InProcessNetwork::ring(int rank) {
  const std::lock_guard guard(mutex_);
  ++activity_;
  add_event(ranks_[static_cast<std::size_t>(rank)]);
}

std::uint64_t InProcessNetwork::events_of(int rank) const {
  const std::lock_guard guard(mutex_);
  return ranks_[static_cast<std::size_t>(rank)].event_count;
}

bool InProcessNetwork::all_complete(const Rank& rank,
                                    std::span<const collective::MessageId> messages) const {
  return std::all_of(messages.begin(), messages.end(), [&](collective::MessageId id) {
    return id == 0 || rank.slots.at(id).complete;
  });
}

bool InProcessNetwork::test(int rank_number, std::span<collective::MessageId> messages) {
  const std::lock_guard guard(mutex_);
  Rank& rank = ranks_[static_cast<std::size_t>(rank_number)];
  if (failure_ || !all_complete(rank, messages)) return false;
  for (collective::MessageId& id : messages) {
    if (id == 0) continue;
    Slot& slot = rank.slots[id];
    const bool undelivered = slot.is_send && !slot.from.empty();
    if (undelivered) {
      slot.peer = -1;
    } else {
      rank.slots.erase(id);
    }
    id = 0;
  }
  return true;
}

bool InProcessNetwork::wait_for_event(int rank_number, std::uint64_t seen) {
  std::unique_lock guard(mutex_);
  Rank& rank = ranks_[static_cast<std::size_t>(rank_number)];
  rank.seen_event_count = seen;
  fail_if_deadlocked();
  rank.has_event->wait(guard, [&] { return failure_ || rank.event_count != seen; });
  rank.seen_event_count.reset();
  return !failure_;
}

void InProcessNetwork::leave(int rank) {
  const std::lock_guard guard(mutex_);
  ranks_[static_cast<std::size_t>(rank)].left = true;
  fail_if_deadlocked();
}

void InProcessNetwork::fail_as_deadlocked() {
  const std::lock_guard guard(mutex_);
  fail_locked("ranks wait for each other" + unmatched_messages());
}

std::string InProcessNetwork::unmatched_messages() const {
  constexpr std::size_t length_max = 400;
  std::string text;
  for (const auto& [pair, channel] : channels_) {
    if (channel.sends.empty() && channel.receives.empty()) continue;
    if (text.size() > length_max) return text + " ...";
    text += channel.sends.empty() ? "; receive " : "; send ";
    text += std::to_string(pair.first) + " -> " + std::to_string(pair.second);
  }
  return text;
}

void InProcessNetwork::fail_locked(std::string what) {
  if (!failure_) failure_ = std::move(what);
  for (Rank& rank : ranks_) rank.has_event->notify_all();
}

void InProcessNetwork::fail_if_deadlocked() {
  if (helper_jobs_ > 0) return;
  bool any_rank_waits = false;
  for (const Rank& rank : ranks_) {
    if (rank.left) continue;
    if (rank.seen_event_count != rank.event_count) return;
    any_rank_waits = true;
  }
  if (any_rank_waits) fail_locked("ranks wait for each other" + unmatched_messages());
}

}  // namespace nacre::testing
