// Ranks inside one process, for tests: hundreds of them, each a thread or all driven by one thread
// in an order that a seed decides, so that a failure comes again.
#ifndef NACRE_TESTING_IN_PROCESS_H_
#define NACRE_TESTING_IN_PROCESS_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::testing {

/// When a send is complete. An MPI does the first with short messages and the second with long
/// ones; a protocol has to live with both.
enum class SendMode : std::uint8_t { buffered, rendezvous, mixed };

struct InProcessOptions {
  int rank_count = 1;
  SendMode send_mode = SendMode::mixed;
  std::uint64_t seed = 1;  ///< mixed: which are buffered
  int ranks_per_node = 1;
  bool deals_ranks = false;  ///< to the nodes in turn, not in blocks
};

/// The messages between the ranks, and what is wrong with them: a receive whose length is not that
/// of its message, a zero-length message, ranks that wait for each other forever. After a failure
/// no message completes any more. Thread-safe.
class InProcessNetwork {
 public:
  explicit InProcessNetwork(const InProcessOptions& options);
  ~InProcessNetwork();
  InProcessNetwork(const InProcessNetwork&) = delete;
  InProcessNetwork& operator=(const InProcessNetwork&) = delete;

  [[nodiscard]] int size() const { return rank_count_; }
  [[nodiscard]] const plan::NodeMap& nodes() const { return nodes_; }
  /// Rank `rank`'s transport, which lives as long as the network. Its wait() ends the program with
  /// a report where waiting is hopeless, since a collective::Transport has no other way to say so;
  /// drivers below do not use it.
  [[nodiscard]] collective::Transport& transport(int rank);

  /// The first thing that went wrong.
  [[nodiscard]] std::optional<std::string> failure() const;
  /// Messages that have been sent and not received, or the other way round.
  [[nodiscard]] std::int64_t unmatched_count() const;
  [[nodiscard]] std::int64_t sent_count(int rank) const;

  // For drivers.
  /// Grows with all that happens.
  [[nodiscard]] std::uint64_t activity() const;
  /// Grows with all that may let `rank` go on; to be asked before it is driven.
  [[nodiscard]] std::uint64_t news_of(int rank) const;
  /// Waits until news_of(rank) is not `seen` any more; false after a failure of the network, also
  /// where waiting is found to be hopeless.
  bool wait_for_news(int rank, std::uint64_t seen);
  /// Work that ranks have given to threads and that is not through.
  [[nodiscard]] std::int64_t helper_jobs() const;
  /// `rank` will send and receive no more.
  void leave(int rank);
  /// For a driver that sees that nothing happens any more.
  void fail_as_stuck();

 private:
  class RankTransport;
  friend class RankTransport;

  struct Slot {
    bool complete = false;
    bool is_send = false;
    int peer = 0;
    std::span<std::byte> to;
    std::span<const std::byte> from;
    std::vector<std::byte> buffer;
  };
  struct Rank {
    std::map<collective::MessageId, Slot> slots;
    collective::MessageId next_id = 1;
    std::uint64_t news = 0;
    std::optional<std::uint64_t> waits_after;  // the news it has seen, while it waits
    std::unique_ptr<std::condition_variable> has_news = std::make_unique<std::condition_variable>();
    bool left = false;
    std::int64_t sent_count = 0;
  };
  /// Posted sends and receives of one ordered pair; one of the two is empty.
  struct Channel {
    std::deque<collective::MessageId> sends;
    std::deque<collective::MessageId> receives;
  };

  collective::MessageId post_send(int source, int destination, std::span<const std::byte> data);
  collective::MessageId post_receive(int destination, int source, std::span<std::byte> data);
  bool test(int rank, std::span<collective::MessageId> messages);
  void ring(int rank);
  void run_in_helper_thread(int rank, std::function<void()> job, int thread_count_max);

  // With mutex_ held:
  [[nodiscard]] bool all_complete(const Rank& rank,
                                  std::span<const collective::MessageId> messages) const;
  void match(int source, int destination);
  void tell(Rank& rank);
  void fail_locked(std::string what);
  void fail_if_hopeless();
  [[nodiscard]] std::string who_waits() const;

  mutable std::mutex mutex_;
  const int rank_count_;
  const plan::NodeMap nodes_;
  const SendMode send_mode_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<std::unique_ptr<collective::Transport>> transports_;
  std::map<std::pair<int, int>, Channel> channels_;
  std::uint64_t activity_ = 0;
  std::int64_t helper_jobs_ = 0;
  std::condition_variable work_ended_;
  std::optional<std::string> failure_;
};

/// Runs make_task(rank) on every rank, one step at a time, ranks in random order by `seed`. The
/// ranks' results; nothing when the network failed, which network.failure() then explains.
template <class T, class MakeTask>
std::optional<std::vector<T>> run_polled(InProcessNetwork& network, MakeTask make_task,
                                         std::uint64_t seed) {
  std::vector<std::unique_ptr<collective::Operation<T>>> operations;
  std::vector<std::size_t> pending;
  for (int rank = 0; rank < network.size(); ++rank) {
    operations.push_back(
        std::make_unique<collective::Operation<T>>(make_task(rank), network.transport(rank)));
    pending.push_back(static_cast<std::size_t>(rank));
  }
  std::mt19937_64 random(seed);
  while (!pending.empty() && !network.failure()) {
    std::shuffle(pending.begin(), pending.end(), random);
    const std::uint64_t activity = network.activity();
    const bool worked_beside = network.helper_jobs() > 0;
    const auto ended = std::remove_if(pending.begin(), pending.end(), [&](std::size_t rank) {
      return operations[rank]->advance();
    });
    const bool works_beside = worked_beside || network.helper_jobs() > 0;
    const bool stuck = ended == pending.end() && activity == network.activity() && !works_beside;
    pending.erase(ended, pending.end());
    if (stuck) network.fail_as_stuck();
  }
  if (network.failure()) return std::nullopt;
  std::vector<T> results;
  for (auto& operation : operations) results.push_back(std::move(operation->value()));
  return results;
}

/// As run_polled, each rank a thread.
template <class T, class MakeTask>
std::optional<std::vector<T>> run_threads(InProcessNetwork& network, MakeTask make_task) {
  std::vector<std::optional<T>> slots(static_cast<std::size_t>(network.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < network.size(); ++rank) {
    threads.emplace_back([&network, &make_task, &slots, rank] {
      collective::Operation<T> operation(make_task(rank), network.transport(rank));
      std::uint64_t seen = network.news_of(rank);
      while (!operation.advance() && network.wait_for_news(rank, seen)) {
        seen = network.news_of(rank);
      }
      if (operation.done()) slots[static_cast<std::size_t>(rank)] = std::move(operation.value());
      network.leave(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (network.failure()) return std::nullopt;
  std::vector<T> results;
  for (std::optional<T>& slot : slots) results.push_back(std::move(*slot));
  return results;
}

}  // namespace nacre::testing

#endif  // NACRE_TESTING_IN_PROCESS_H_
