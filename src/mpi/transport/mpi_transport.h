// The Transport over MPI: nonblocking sends and receives on a duplicate of the file's communicator,
// with one tag for each open file. Short messages between ranks of a node go through shared memory.
#ifndef NACRE_MPI_TRANSPORT_MPI_TRANSPORT_H_
#define NACRE_MPI_TRANSPORT_MPI_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "collective/task/transport.h"
#include "mpi/abi/native.h"
#include "mpi/transport/comm_state.h"

namespace nacre::mpi {

class MpiTransport final : public collective::Transport {
 public:
  /// Reserves `tag` for its lifetime.
  MpiTransport(std::shared_ptr<CommState> comm, int tag);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] int rank() const override { return comm_->rank(); }
  [[nodiscard]] int size() const override { return comm_->size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return comm_->nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return comm_->tree(); }
  [[nodiscard]] collective::MessageId receive(int source, std::span<std::byte> data) override;
  bool test(std::span<collective::MessageId> messages) override;
  void ring(int rank) override;
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override;
  void wait(collective::Condition& condition) override;

 private:
  [[nodiscard]] collective::MessageId post_send(int destination,
                                                std::span<const std::byte> data) override;

  /// One message: its request, and those of further parts if it is longer than part_bytes_max. A
  /// short message has no request.
  struct Slot {
    MPI_Request request;
    std::vector<MPI_Request> rest;
    bool done = false;
  };
  /// A short message that waits for room at its destination.
  struct Outgoing {
    std::size_t slot;
    int destination;
    std::span<const std::byte> data;
  };
  /// A short message that has not arrived.
  struct Expected {
    std::size_t slot;
    int source;
    std::span<std::byte> data;
  };
  /// What tests found missing since it was cleared.
  struct Missing {
    bool by_mpi = false;  ///< messages of the MPI, or room for outgoing ones: only polling helps
    std::uint32_t arrivals = 0;  ///< short messages
  };

  [[nodiscard]] std::size_t acquire_slot();
  template <class Start>
  [[nodiscard]] collective::MessageId start(std::int64_t size, Start start_part);
  [[nodiscard]] bool fits_short_message(int rank, std::size_t bytes) const;
  [[nodiscard]] bool send_short(int destination, std::span<const std::byte> data);
  void send_outgoing();
  /// Sends outgoing and matches arrived short messages.
  void exchange_short();
  /// True, with `done` set, if the MPI has completed all of `messages` that it carries.
  [[nodiscard]] bool test_requests(std::span<const collective::MessageId> messages);
  void progress_mpi_periodically();

  std::shared_ptr<CommState> comm_;
  int tag_;
  std::vector<Slot> slots_;  // a message's id is its slot's number + 1
  std::vector<std::size_t> free_slots_;
  std::vector<MPI_Request> requests_;
  std::deque<Outgoing> outgoing_;
  std::vector<Expected> expected_;
  std::deque<ShortMessages::Message> arrived_;
  Missing missing_;
  std::int64_t next_mpi_progress_ = 0;  // when, by monotonic_nanoseconds()
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_TRANSPORT_MPI_TRANSPORT_H_
