// Short messages between the ranks of a communicator that share memory: a NodeBoard, and the
// arrived messages by tag, that is by open file.
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
#include "store/memory/shared_memory.h"

namespace nacre::mpi {

/// Thread-safe. Ranks are those of the communicator.
class ShortMessages {
 public:
  static constexpr std::size_t bytes_max = collective::NodeBoard::message_bytes_max;

  struct Message {
    int source = 0;
    std::uint32_t length = 0;
    std::array<std::byte, bytes_max> bytes;
  };

  /// `memory` holds the board of `node_ranks`, the ranks of this node in ascending order; `rank` is
  /// this one.
  ShortMessages(store::SharedMemory memory, std::vector<int> node_ranks, int rank);

  [[nodiscard]] bool reaches(int rank) const;
  /// False if `destination` has no room at the moment. `data` has bytes_max bytes at most.
  bool send(int destination, int tag, std::span<const std::byte> data);
  /// Appends the messages that have arrived for `tag`, in the order of arrival.
  void take(int tag, std::deque<Message>& messages);
  /// Returns messages that were taken for `tag` and belong to the next file that uses the tag:
  /// another rank may have opened it already.
  void put_back(int tag, std::deque<Message> messages);

  /// Wakes `rank` up.
  void ring(int rank);
  /// All messages that were sent to this rank have been taken.
  [[nodiscard]] bool is_drained();
  /// Grows with each message and ring; to be read before take().
  [[nodiscard]] std::uint32_t arrivals() const { return board_.rings(); }
  /// Sleeps until arrivals() has reached `until`, at most `time_max`; only for a moment if another
  /// thread sleeps already.
  void sleep(std::uint32_t until, std::chrono::nanoseconds time_max);

 private:
  store::SharedMemory memory_;
  std::vector<int> node_ranks_;
  collective::NodeBoard board_;
  std::mutex sleep_mutex_;
  std::mutex mutex_;                            // of arrived_
  std::map<int, std::deque<Message>> arrived_;  // by tag
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_TRANSPORT_SHORT_MESSAGES_H_
