// Short messages between the ranks of a communicator that share memory: the board on which they
// stand, and those that have arrived, sorted by the file that they are for.
#ifndef NACRE_MPI_TRANSPORT_SHORT_MESSAGES_H_
#define NACRE_MPI_TRANSPORT_SHORT_MESSAGES_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "collective/node/node_board.h"
#include "store/shared_memory.h"

namespace nacre::mpi {

/// Thread-safe. A rank goes by its number in the communicator.
class ShortMessages {
 public:
  static constexpr std::size_t bytes_max = collective::NodeBoard::message_bytes_max;

  struct Message {
    int source = 0;
    std::uint32_t length = 0;
    std::array<std::byte, bytes_max> bytes;
  };

  /// `memory` is that of the board of `node_ranks`, the ranks of this node, lowest first, of which
  /// `rank` is this one.
  ShortMessages(store::SharedMemory memory, std::vector<int> node_ranks, int rank);

  [[nodiscard]] bool reaches(int rank) const;
  /// False when there is no room at `destination` at the moment. `data` is bytes_max at most.
  bool send(int destination, int tag, std::span<const std::byte> data);
  /// Moves those that have arrived for `tag` to the end of `messages`, in the order of arrival.
  void take(int tag, std::deque<Message>& messages);
  /// Those that were taken for `tag` and are for whoever uses it next: a rank that is through with
  /// this use may already have begun the next.
  void put_back(int tag, std::deque<Message> messages);

  /// Has `rank` wake up.
  void ring(int rank);
  /// Whether none has come, nor is on its way, that has not been taken.
  [[nodiscard]] bool is_drained();
  /// Grows with all that comes; to be asked before one looks for it.
  [[nodiscard]] std::uint32_t arrivals() const { return board_.rings(); }
  /// Sleeps until arrivals() has reached `until`, `time_max` at most; where another thread sleeps
  /// already, for a moment.
  void sleep(std::uint32_t until, std::chrono::nanoseconds time_max);

 private:
  store::SharedMemory memory_;
  std::vector<int> node_ranks_;
  collective::NodeBoard board_;
  std::mutex sleep_mutex_;
  std::mutex mutex_;                            // of what follows
  std::map<int, std::deque<Message>> arrived_;  // by tag
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_TRANSPORT_SHORT_MESSAGES_H_
