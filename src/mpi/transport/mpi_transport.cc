#include "mpi/transport/mpi_transport.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/checked_cast.h"
#include "base/clock.h"
#include "base/worker_threads.h"
#include "mpi/progress/progress.h"

namespace nacre::mpi {
namespace {

constexpr std::int64_t part_bytes_max = std::int64_t{1} << 30;
constexpr std::int64_t nanoseconds_between_mpi_progress = 1'000'000;

/// Tests `request` without entering the MPI's progress engine: code that the engine has called may
/// do no more.
bool complete_without_progress(MPI_Request request) {
  return native().MPIX_Request_is_complete == nullptr ||
         native().MPIX_Request_is_complete(request) != 0;
}

}  // namespace

MpiTransport::MpiTransport(std::shared_ptr<CommState> comm, int tag)
    : comm_(std::move(comm)), tag_(tag) {
  comm_->reserve_tag(tag_);
}

MpiTransport::~MpiTransport() {
  if (!arrived_.empty()) comm_->short_messages()->put_back(tag_, std::move(arrived_));
  comm_->release_tag(tag_);
}

std::size_t MpiTransport::acquire_slot() {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::size_t number = free_slots_.back();
  free_slots_.pop_back();
  slots_[number].request = native().REQUEST_NULL;
  slots_[number].done = false;
  return number;
}

template <class Start>
collective::MessageId MpiTransport::start(std::int64_t size, Start start_part) {
  const std::size_t number = acquire_slot();
  Slot& slot = slots_[number];
  start_part(0, checked_cast<int>(std::min(size, part_bytes_max)), &slot.request);
  for (std::int64_t first = part_bytes_max; first < size; first += part_bytes_max) {
    start_part(first, checked_cast<int>(std::min(size - first, part_bytes_max)),
               &slot.rest.emplace_back(native().REQUEST_NULL));
  }
  return number + 1;
}

/// Sender and receiver decide alike, so each message has one way and messages of a way keep their
/// order.
bool MpiTransport::fits_short_message(int rank, std::size_t bytes) const {
  const ShortMessages* const board = comm_->short_messages().get();
  return bytes <= ShortMessages::bytes_max && board != nullptr && board->reaches(rank);
}

collective::MessageId MpiTransport::post_send(int destination, std::span<const std::byte> data) {
  if (!fits_short_message(destination, data.size())) {
    return start(std::ssize(data), [&](std::int64_t first, int size, MPI_Request* request) {
      native().Isend(data.data() + first, size, native().BYTE, destination, tag_, comm_->comm(),
                     request);
    });
  }
  const std::size_t number = acquire_slot();
  slots_[number].done = send_short(destination, data);
  if (!slots_[number].done) outgoing_.push_back({number, destination, data});
  return number + 1;
}

collective::MessageId MpiTransport::receive(int source, std::span<std::byte> data) {
  if (!fits_short_message(source, data.size())) {
    return start(std::ssize(data), [&](std::int64_t first, int size, MPI_Request* request) {
      native().Irecv(data.data() + first, size, native().BYTE, source, tag_, comm_->comm(),
                     request);
    });
  }
  const std::size_t number = acquire_slot();
  expected_.push_back({number, source, data});
  return number + 1;
}

/// Fails if the destination has no room, or if earlier messages to it wait for room.
bool MpiTransport::send_short(int destination, std::span<const std::byte> data) {
  const bool waits =
      std::ranges::find(outgoing_, destination, &Outgoing::destination) != outgoing_.end();
  return !waits && comm_->short_messages()->send(destination, tag_, data);
}

/// In order: a message that finds no room delays later messages to the same rank only.
void MpiTransport::send_outgoing() {
  std::vector<int> full;
  std::erase_if(outgoing_, [&](const Outgoing& message) {
    if (std::ranges::find(full, message.destination) != full.end()) return false;
    bool& done = slots_[message.slot].done;
    done = comm_->short_messages()->send(message.destination, tag_, message.data);
    if (!done) full.push_back(message.destination);
    return done;
  });
}

void MpiTransport::exchange_short() {
  if (!outgoing_.empty()) send_outgoing();
  if (expected_.empty()) return;
  comm_->short_messages()->take(tag_, arrived_);
  for (auto message = arrived_.begin(); message != arrived_.end();) {
    const auto wanted = std::ranges::find(expected_, message->source, &Expected::source);
    if (wanted == expected_.end()) {
      ++message;
      continue;
    }
    std::copy_n(message->bytes.begin(), message->length, wanted->data.begin());
    slots_[wanted->slot].done = true;
    expected_.erase(wanted);
    message = arrived_.erase(message);
  }
}

bool MpiTransport::test_requests(std::span<const collective::MessageId> messages) {
  requests_.clear();
  for (const collective::MessageId id : messages) {
    if (id == 0 || slots_[id - 1].request == native().REQUEST_NULL) continue;
    const Slot& slot = slots_[id - 1];
    requests_.push_back(slot.request);
    requests_.insert(requests_.end(), slot.rest.begin(), slot.rest.end());
  }
  if (requests_.empty()) return true;
  if (inside_mpi_progress() && !std::ranges::all_of(requests_, complete_without_progress)) {
    return false;
  }
  int all = 0;
  native().Testall(checked_cast<int>(requests_.size()), requests_.data(), &all,
                   MPI_STATUSES_IGNORE);
  // Testall changes no request unless all are complete.
  if (all == 0) return false;
  for (const collective::MessageId id : messages) {
    if (id == 0 || slots_[id - 1].request == native().REQUEST_NULL) continue;
    slots_[id - 1].request = native().REQUEST_NULL;
    slots_[id - 1].rest.clear();
    slots_[id - 1].done = true;
  }
  return true;
}

bool MpiTransport::test(std::span<collective::MessageId> messages) {
  exchange_short();
  if (!test_requests(messages)) missing_.by_mpi = true;
  bool all_done = true;
  for (const collective::MessageId id : messages) {
    if (id == 0 || slots_[id - 1].done) continue;
    all_done = false;
    const bool expected = std::ranges::find(expected_, id - 1, &Expected::slot) != expected_.end();
    if (expected) ++missing_.arrivals;
  }
  if (!all_done) {
    missing_.by_mpi = missing_.by_mpi || !outgoing_.empty();
    return false;
  }
  for (collective::MessageId& id : messages) {
    if (id != 0) free_slots_.push_back(id - 1);
    id = 0;
  }
  return true;
}

/// Progresses the program's own messages. At intervals only: Open MPI yields the core when it finds
/// nothing to do (mpi_yield_when_idle).
void MpiTransport::progress_mpi_periodically() {
  const std::int64_t now = monotonic_nanoseconds();
  if (now < next_mpi_progress_) return;
  next_mpi_progress_ = now + nanoseconds_between_mpi_progress;
  int flag = 0;
  native().Iprobe(MPI_ANY_SOURCE, tag_, comm_->comm(), &flag, MPI_STATUS_IGNORE);
}

// Polls and yields, instead of calling the MPI's wait: MPICH spins there, and with more ranks than
// cores each message then costs a time slice (8 ranks on 2 cores: writes five times slower). If
// only short messages are missing, the rank sleeps until they arrive, and progresses the program's
// own messages at intervals.
void MpiTransport::wait(collective::Condition& condition) {
  constexpr std::chrono::nanoseconds nap_max(nanoseconds_between_mpi_progress);
  // Pending accesses of other files may wait for messages that do not ring here.
  constexpr std::chrono::microseconds nap_with_pending_accesses(50);
  ShortMessages* const board = comm_->short_messages().get();
  while (true) {
    const std::uint32_t arrivals = board != nullptr ? board->arrivals() : 0;
    missing_ = {};
    if (condition.ready(*this)) return;
    poll_all();
    if (missing_.by_mpi || board == nullptr) {
      std::this_thread::yield();
      continue;
    }
    const bool others_pending = must_poll_while_waiting();
    const bool knows_count = condition.takes_all() && !others_pending && board->is_drained();
    board->sleep(arrivals + (knows_count ? missing_.arrivals : 1),
                 others_pending ? nap_with_pending_accesses : nap_max);
    progress_mpi_periodically();
  }
}

void MpiTransport::ring(int rank) { comm_->short_messages()->ring(rank); }

void MpiTransport::run_in_helper_thread(std::function<bool()> job, int thread_count_max) {
  // Holds no CommState: the last reference frees the communicator, which is a call of the MPI.
  run_on_worker(
      [job = std::move(job), board = comm_->short_messages(), rank = comm_->rank()] {
        for (bool again = true; again;) {
          again = job();
          if (board != nullptr) board->ring(rank);
        }
      },
      thread_count_max);
}

}  // namespace nacre::mpi
