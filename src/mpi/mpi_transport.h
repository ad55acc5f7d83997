// The Transport over MPI messages: nonblocking sends and receives on a communicator of our own,
// with one tag per open file.
#ifndef NACRE_MPI_MPI_TRANSPORT_H_
#define NACRE_MPI_MPI_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "collective/transport.h"
#include "mpi/abi/native.h"
#include "mpi/comm_state.h"

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
  [[nodiscard]] collective::MessageId send(int destination,
                                           std::span<const std::byte> data) override;
  [[nodiscard]] collective::MessageId receive(int source, std::span<std::byte> data) override;
  bool test(std::span<collective::MessageId> messages) override;
  void wait(std::span<collective::MessageId> messages) override;

 private:
  /// One message: a request, and more of them where it is longer than an int can count.
  struct Slot {
    MPI_Request request;
    std::vector<MPI_Request> rest;
  };
  template <class Start>
  [[nodiscard]] collective::MessageId start(std::int64_t size, Start start_part);
  /// The requests behind `messages`, into requests_.
  void collect(std::span<const collective::MessageId> messages);
  void forget(std::span<collective::MessageId> messages);

  std::shared_ptr<CommState> comm_;
  int tag_;
  std::vector<Slot> slots_;  // a message's id is its slot's number + 1
  std::vector<std::size_t> free_slots_;
  std::vector<MPI_Request> requests_;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_MPI_TRANSPORT_H_
