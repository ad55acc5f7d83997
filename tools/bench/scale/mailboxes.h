// Mailboxes: messages between the ranks of a job in one process, for coroutines without a stack
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/task/transport.h"

namespace nacre::bench {

/// A send copies its message and is complete at once. The memory of messages in flight is not
/// counted by RankHeap: in a job the MPI and the network have it.
class Mailboxes {
 public:
  /// Messages that a rank sent and received.
  struct Traffic {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
  };

  /// All ranks are ready. `nodes` must outlive the mailboxes.
  explicit Mailboxes(const plan::NodeMap& nodes);
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  [[nodiscard]] collective::Transport& transport(int rank);
  [[nodiscard]] const Traffic& traffic(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].traffic;
  }
  /// A rank that has not begun or that got a message since it was ready last; -1: none.
  [[nodiscard]] int next_ready();
  /// The rank is done.
  void end(int rank);

 private:
  class RankTransport;
  struct Expected {
    int source;
    collective::MessageId id;
    std::span<std::byte> data;
  };
  struct Arrived {
    int source;
    std::vector<std::byte> bytes;
  };
  struct Rank {
    std::unique_ptr<RankTransport> transport;
    std::vector<Expected> expected;  // in the order of the receives
    std::vector<Arrived> arrived;    // in the order of the sends, not received yet
    Traffic traffic;
    bool is_ready = true;
    bool has_ended = false;
  };
  void send(int source, int destination, std::span<const std::byte> data);
  collective::MessageId receive(int rank, int source, std::span<std::byte> data);
  [[nodiscard]] bool test(int rank, std::span<collective::MessageId> messages);
  void make_ready(int rank);

  const plan::NodeMap& nodes_;
  std::vector<Rank> ranks_;
  std::vector<int> ready_;
  collective::MessageId last_id_ = 0;
};

}  // namespace nacre::bench
