// InProcessNetwork: hundreds of ranks in one process, for tests. Ranks run in a thread each, or all
// in one thread in an order drawn from a seed, so that failures are reproducible.
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

/// When a send completes: at once (buffered), when the receive is posted (rendezvous), or one of
/// both at random for each send (mixed). MPI libraries buffer short messages and use rendezvous for
/// long messages; protocols must work with both.
enum class SendMode : std::uint8_t { buffered, rendezvous, mixed };

struct InProcessOptions {
  int rank_count = 1;
  SendMode send_mode = SendMode::mixed;
  std::uint64_t seed = 1;  ///< mixed: selects the buffered sends
  int ranks_per_node = 1;
  bool deals_ranks = false;  ///< assigns ranks to nodes in turn instead of in blocks
};

/// Transfers messages between the ranks and detects failures: a receive whose length differs from
/// its message, a message of length 0, and deadlocks. After a failure no further message completes.
/// Thread-safe.
class InProcessNetwork {
 public:
  explicit InProcessNetwork(const InProcessOptions& options);
  ~InProcessNetwork();
  InProcessNetwork(const InProcessNetwork&) = delete;
  InProcessNetwork& operator=(const InProcessNetwork&) = delete;

  [[nodiscard]] int size() const { return rank_count_; }
  [[nodiscard]] const plan::NodeMap& nodes() const { return nodes_; }
  /// The transport of `rank`, owned by the network. After a failure its wait() prints the failure
  /// and aborts the program, since collective::Transport cannot return it. run_polled() and
  /// run_threads() do not call wait().
  [[nodiscard]] collective::Transport& transport(int rank);

  /// The first failure.
  [[nodiscard]] std::optional<std::string> failure() const;
  /// The number of sends without a receive and of receives without a send.
  [[nodiscard]] std::int64_t unmatched_count() const;
  [[nodiscard]] std::int64_t sent_count(int rank) const;

  // For drivers.
  /// The number of events so far: posted sends and receives, rings and completed helper jobs.
  [[nodiscard]] std::uint64_t activity() const;
  /// The number of events so far that may let `rank` progress. Read it before advancing the rank.
  [[nodiscard]] std::uint64_t events_of(int rank) const;
  /// Waits until events_of(rank) differs from `seen`. Returns false after a failure of the network,
  /// for example if this wait is a deadlock.
  bool wait_for_event(int rank, std::uint64_t seen);
  /// The number of helper jobs that have not completed.
  [[nodiscard]] std::int64_t helper_jobs() const;
  /// Declares that `rank` will not send or receive any more.
  void leave(int rank);
  /// Fails with "ranks wait for each other". For a driver that detects that no rank progresses.
  void fail_as_deadlocked();

 private:
  class RankTransport;
  friend class RankTransport;

  struct Slot {
    bool complete = false;
    bool is_send = false;
    int peer = 0;  // -1: a buffered send that test() has completed before it was received
    std::span<std::byte> to;
    std::span<const std::byte> from;
    std::vector<std::byte> buffer;
  };
  struct Rank {
    std::map<collective::MessageId, Slot> slots;
    collective::MessageId next_id = 1;
    std::uint64_t event_count = 0;
    std::optional<std::uint64_t> seen_event_count;  // while it waits: the events it has seen
    std::unique_ptr<std::condition_variable> has_event =
        std::make_unique<std::condition_variable>();
    bool left = false;
    std::int64_t sent_count = 0;
  };
  /// Unmatched sends and receives from one rank to another. One of the queues is empty.
  struct Channel {
    std::deque<collective::MessageId> sends;
    std::deque<collective::MessageId> receives;
  };

  collective::MessageId post_send(int source, int destination, std::span<const std::byte> data);
  collective::MessageId post_receive(int destination, int source, std::span<std::byte> data);
  bool test(int rank, std::span<collective::MessageId> messages);
  void ring(int rank);
  void run_in_helper_thread(int rank, std::function<bool()> job, int thread_count_max);

  // The caller holds mutex_:
  [[nodiscard]] bool all_complete(const Rank& rank,
                                  std::span<const collective::MessageId> messages) const;
  void match(int source, int destination);
  void add_event(Rank& rank);
  void fail_locked(std::string what);
  void fail_if_deadlocked();
  [[nodiscard]] std::string unmatched_messages() const;

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

/// Runs make_task(rank) on every rank, all in this thread, one step at a time in random order by
/// `seed`. Returns the ranks' results, or nullopt after a failure: see network.failure().
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
    const bool had_helper_jobs = network.helper_jobs() > 0;
    const auto ended = std::remove_if(pending.begin(), pending.end(), [&](std::size_t rank) {
      return operations[rank]->advance();
    });
    const bool any_helper_jobs = had_helper_jobs || network.helper_jobs() > 0;
    const bool is_deadlocked =
        ended == pending.end() && activity == network.activity() && !any_helper_jobs;
    pending.erase(ended, pending.end());
    if (is_deadlocked) network.fail_as_deadlocked();
  }
  if (network.failure()) return std::nullopt;
  std::vector<T> results;
  for (auto& operation : operations) results.push_back(std::move(operation->value()));
  return results;
}

/// Like run_polled(), but each rank runs in its own thread.
template <class T, class MakeTask>
std::optional<std::vector<T>> run_threads(InProcessNetwork& network, MakeTask make_task) {
  std::vector<std::optional<T>> slots(static_cast<std::size_t>(network.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < network.size(); ++rank) {
    threads.emplace_back([&network, &make_task, &slots, rank] {
      collective::Operation<T> operation(make_task(rank), network.transport(rank));
      std::uint64_t seen = network.events_of(rank);
      while (!operation.advance() && network.wait_for_event(rank, seen)) {
        seen = network.events_of(rank);
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
