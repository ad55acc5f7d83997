#include "mpi/transport/short_messages.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::mpi {
namespace {

int number_in(const std::vector<int>& node_ranks, int rank) {
  return checked_cast<int>(std::ranges::lower_bound(node_ranks, rank) - node_ranks.begin());
}

}  // namespace

ShortMessages::ShortMessages(store::SharedMemory memory, std::vector<int> node_ranks, int rank)
    : memory_(std::move(memory)),
      node_ranks_(std::move(node_ranks)),
      board_(memory_.bytes(), number_in(node_ranks_, rank)) {}

bool ShortMessages::reaches(int rank) const {
  return std::ranges::binary_search(node_ranks_, rank);
}

bool ShortMessages::send(int destination, int tag, std::span<const std::byte> data) {
  return board_.post(number_in(node_ranks_, destination), tag, data);
}

void ShortMessages::take(int tag, std::deque<Message>& messages) {
  const std::lock_guard guard(mutex_);
  if (const auto earlier = arrived_.find(tag); earlier != arrived_.end()) {
    std::ranges::move(earlier->second, std::back_inserter(messages));
    arrived_.erase(earlier);
  }
  Message message;
  while (const auto head = board_.take(message.bytes)) {
    message.source = node_ranks_[static_cast<std::size_t>(head->source)];
    message.length = head->length;
    (head->tag == tag ? messages : arrived_[head->tag]).push_back(message);
  }
}

void ShortMessages::put_back(int tag, std::deque<Message> messages) {
  const std::lock_guard guard(mutex_);
  std::deque<Message>& later = arrived_[tag];
  std::ranges::move(later, std::back_inserter(messages));
  later = std::move(messages);
}

bool ShortMessages::is_drained() {
  const std::lock_guard guard(mutex_);
  return board_.is_drained();
}

void ShortMessages::ring(int rank) { board_.ring(number_in(node_ranks_, rank)); }

void ShortMessages::sleep(std::uint32_t until, std::chrono::nanoseconds time_max) {
  const std::unique_lock sleeping(sleep_mutex_, std::try_to_lock);
  if (!sleeping.owns_lock()) {
    std::this_thread::yield();
    return;
  }
  board_.sleep(until, time_max);
}

}  // namespace nacre::mpi
