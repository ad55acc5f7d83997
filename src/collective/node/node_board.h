// NodeBoard: short messages and bells between the ranks of a node, in memory that they share. What
// MPI takes microseconds and polling for is here a copy of some bytes; who has nothing to do sleeps
// until its bell is rung.
#ifndef NACRE_COLLECTIVE_NODE_NODE_BOARD_H_
#define NACRE_COLLECTIVE_NODE_NODE_BOARD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nacre::collective {

/// What is said of a short message beside its bytes.
struct ShortMessageHead {
  std::int32_t source = 0;  ///< the sender's number on the node
  std::int32_t tag = 0;
  std::uint32_t length = 0;
};

/// One process' handle on the board. Ranks of the node are numbered from 0. Every rank has a bell,
/// and a queue of message_count short messages (after D. Vyukov's bounded queue: any number of
/// senders without a lock, one receiver).
class NodeBoard {
 public:
  static constexpr std::size_t message_bytes_max = 496;
  static constexpr std::uint64_t message_count = 32;

  [[nodiscard]] static std::int64_t bytes_needed(int rank_count);

  /// `memory`: bytes_needed(rank_count) of them, zeros when the first rank comes, on a cache line;
  /// outlives the board.
  NodeBoard(std::span<std::byte> memory, int self);

  /// Puts a message of at most message_bytes_max bytes into the queue of `to` and rings its bell.
  /// False when that is full. Thread-safe.
  bool post(int to, int tag, std::span<const std::byte> data);

  /// The oldest message in this rank's queue, which is then gone: its head, and its bytes in the
  /// front of `bytes`. One thread at a time.
  std::optional<ShortMessageHead> take(std::span<std::byte, message_bytes_max> bytes);

  /// Whether nothing is in the queue, nor on its way into it: a message whose sender has been held
  /// up hides those behind it, whose rings have been heard. One thread at a time.
  [[nodiscard]] bool is_drained() const;

  /// Thread-safe.
  void ring(int rank);
  /// How often this rank's bell has been rung; to be asked before one looks for news.
  [[nodiscard]] std::uint32_t rings() const;
  /// Sleeps until rings() has reached `until`, `time_max` at most. One thread at a time.
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
