// The Transport over MPI: nonblocking sends and receives on a communicator of our own, with one tag
// per open file; short messages between ranks that share memory go through that.
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
  /// Takes `tag` until it is destroyed.
  MpiTransport(std::shared_ptr<CommState> comm, int tag);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] int rank() const override { return comm_->rank(); }
  [[nodiscard]] int size() const override { return comm_->size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return comm_->nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return comm_->tree(); }
  [[nodiscard]] collective::MessageId send(int destination,
                                           std::span<const std::byte> data) override;
  [[nodiscard]] collective::MessageId receive(int source, std::span<std::byte> data) override;
  bool test(std::span<collective::MessageId> messages) override;
  void ring(int rank) override;
  void run_in_helper_thread(std::function<void()> job, int thread_count_max) override;
  void wait(collective::Condition& condition) override;

 private:
  /// One message: a request, and more of them where it is longer than an int can count; none where
  /// it is a short one.
  struct Slot {
    MPI_Request request;
    std::vector<MPI_Request> rest;
    bool done = false;
  };
  /// Short messages that are not through: to be sent, as soon as there is room, and to come.
  struct Outgoing {
    std::size_t slot;
    int destination;
    std::span<const std::byte> data;
  };
  struct Expected {
    std::size_t slot;
    int source;
    std::span<std::byte> data;
  };
  /// Why tests said no, since it was cleared.
  struct Missing {
    bool by_mpi = false;         ///< something that only polling the MPI, or others' room, brings
    std::uint32_t arrivals = 0;  ///< short messages that have not come
  };

  [[nodiscard]] std::size_t acquire_slot();
  template <class Start>
  [[nodiscard]] collective::MessageId start(std::int64_t size, Start start_part);
  [[nodiscard]] bool fits_short_message(int rank, std::size_t bytes) const;
  [[nodiscard]] bool send_short(int destination, std::span<const std::byte> data);
  void send_outgoing();
  /// Sends and takes what can be.
  void exchange_short();
  /// Sets `done` of those of `messages` that the MPI carries, if it has completed them all; whether
  /// it has.
  [[nodiscard]] bool test_requests(std::span<const collective::MessageId> messages);
  void forget(std::span<collective::MessageId> messages);
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
