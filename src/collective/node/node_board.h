// NodeBoard: short messages and bells between the ranks of a node, in memory that they share. A
// message is a copy of some bytes, where MPI needs microseconds and polling. An idle rank sleeps
// until another rank rings its bell.
#ifndef NACRE_COLLECTIVE_NODE_NODE_BOARD_H_
#define NACRE_COLLECTIVE_NODE_NODE_BOARD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nacre::collective {

/// Precedes the bytes of a short message.
struct ShortMessageHead {
  std::int32_t source = 0;  ///< the sender's number on the node
  std::int32_t tag = 0;
  std::uint32_t length = 0;
};

/// The handle of one process on the board. Ranks of the node are numbered from 0. Each rank has a
/// bell and a queue of message_count short messages (after D. Vyukov's bounded queue: any number of
/// senders without a lock, one receiver).
class NodeBoard {
 public:
  static constexpr std::size_t message_bytes_max = 496;
  static constexpr std::uint64_t message_count = 32;

  [[nodiscard]] static std::int64_t bytes_needed(int rank_count);

  /// `memory`: bytes_needed(rank_count) bytes, aligned to a cache line, zeros before the first rank
  /// uses them; must outlive the board.
  NodeBoard(std::span<std::byte> memory, int self);

  /// Puts a message of at most message_bytes_max bytes into the queue of `to` and rings its bell.
  /// Returns false if the queue is full. Thread-safe.
  bool post(int to, int tag, std::span<const std::byte> data);

  /// Removes the oldest message from this rank's queue: returns its head and copies its bytes to
  /// the begin of `bytes`. One thread at a time.
  std::optional<ShortMessageHead> take(std::span<std::byte, message_bytes_max> bytes);

  /// Whether no message is in the queue, and no sender is writing one: such a message hides later
  /// messages whose senders have rung already. One thread at a time.
  [[nodiscard]] bool is_drained() const;

  /// Thread-safe.
  void ring(int rank);
  /// The number of times that this rank's bell has been rung. Read it before checking conditions.
  [[nodiscard]] std::uint32_t rings() const;
  /// Sleeps until rings() has reached `until`, at most for `time_max`. One thread at a time.
  void sleep(std::uint32_t until, std::chrono::nanoseconds time_max);

 private:
  struct Cell;
  struct Mailbox;
  [[nodiscard]] Mailbox& mailbox(int rank) const;

  Mailbox* mailboxes_;
  int self_;
  std::uint64_t taken_ = 0;  // messages that this rank has taken
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_NODE_NODE_BOARD_H_
