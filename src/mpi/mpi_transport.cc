#include "mpi/mpi_transport.h"

#include <algorithm>
#include <utility>

#include "base/checked_cast.h"
#include "mpi/progress.h"

namespace nacre::mpi {
namespace {

constexpr std::int64_t part_bytes_max = std::int64_t{1} << 30;

/// Whether `request` is complete, asked without entering the MPI's progress: inside its progress
/// engine that is all one may do.
bool complete_without_progress(MPI_Request request) {
  return native().MPIX_Request_is_complete == nullptr ||
         native().MPIX_Request_is_complete(request) != 0;
}

}  // namespace

MpiTransport::MpiTransport(std::shared_ptr<CommState> comm, int tag)
    : comm_(std::move(comm)), tag_(tag) {
  comm_->take_tag(tag_);
}

MpiTransport::~MpiTransport() { comm_->release_tag(tag_); }

template <class Start>
collective::MessageId MpiTransport::start(std::int64_t size, Start start_part) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.push_back({native().REQUEST_NULL, {}});
  }
  const std::size_t number = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[number];
  slot.request = start_part(0, std::min(size, part_bytes_max));
  for (std::int64_t first = part_bytes_max; first < size; first += part_bytes_max) {
    slot.rest.push_back(start_part(first, std::min(size - first, part_bytes_max)));
  }
  return number + 1;
}

collective::MessageId MpiTransport::send(int destination, std::span<const std::byte> data) {
  return start(std::ssize(data), [&](std::int64_t first, std::int64_t size) {
    MPI_Request request = native().REQUEST_NULL;
    native().Isend(data.data() + first, checked_cast<int>(size), native().BYTE, destination, tag_,
                   comm_->comm(), &request);
    return request;
  });
}

collective::MessageId MpiTransport::receive(int source, std::span<std::byte> data) {
  return start(std::ssize(data), [&](std::int64_t first, std::int64_t size) {
    MPI_Request request = native().REQUEST_NULL;
    native().Irecv(data.data() + first, checked_cast<int>(size), native().BYTE, source, tag_,
                   comm_->comm(), &request);
    return request;
  });
}

void MpiTransport::collect(std::span<const collective::MessageId> messages) {
  requests_.clear();
  for (const collective::MessageId id : messages) {
    if (id == 0) continue;
    const Slot& slot = slots_[id - 1];
    requests_.push_back(slot.request);
    requests_.insert(requests_.end(), slot.rest.begin(), slot.rest.end());
  }
}

void MpiTransport::forget(std::span<collective::MessageId> messages) {
  for (collective::MessageId& id : messages) {
    if (id == 0) continue;
    slots_[id - 1].rest.clear();
    free_slots_.push_back(id - 1);
    id = 0;
  }
}

bool MpiTransport::test(std::span<collective::MessageId> messages) {
  collect(messages);
  if (inside_mpi_progress() && !std::ranges::all_of(requests_, complete_without_progress)) {
    return false;
  }
  int all = 0;
  native().Testall(checked_cast<int>(requests_.size()), requests_.data(), &all,
                   MPI_STATUSES_IGNORE);
  // Testall changes nothing unless all are complete, so the slots stay true.
  if (all == 0) return false;
  forget(messages);
  return true;
}

// Polling with a yield rather than the MPI's own wait: MPICH spins there, and with more ranks than
// cores each message then costs a time slice (8 ranks on 2 cores: writes five times slower).
void MpiTransport::wait(std::span<collective::MessageId> messages) {
  poll_until([&] { return test(messages); });
}

}  // namespace nacre::mpi
