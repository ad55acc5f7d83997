#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

bool PendingAccess::advance() {
  if (!operation_->advance(waiting_calls_.load(std::memory_order_relaxed) > 0)) return false;
  conclude();
  return true;
}

void PendingAccess::finish() {
  operation_->finish();
  conclude();
}

void PendingAccess::conclude() {
  outcome_ = std::move(operation_->value());
  operation_.reset();  // frees the program's types and the buffers
  done_.store(true, std::memory_order_release);
  if (when_done_) when_done_();
}

void OperationQueue::start(std::shared_ptr<PendingAccess> access) {
  {
    const std::lock_guard guard(pending_mutex_);
    pending_.push_back(std::move(access));
  }
  poll();
}

bool OperationQueue::poll() {
  const std::unique_lock driving(drive_, std::try_to_lock);
  if (!driving.owns_lock()) return true;
  while (const auto access = first()) {
    if (!access->advance()) return true;
    remove_first();
  }
  return false;
}

bool OperationQueue::idle() { return first() == nullptr; }

void OperationQueue::finish(const PendingAccess& access) {
  if (access.done()) return;
  const std::lock_guard guard(drive_);
  if (!access.done()) drain();
}

void OperationQueue::drain() {
  while (const auto access = first()) {
    access->finish();
    remove_first();
  }
}

std::shared_ptr<PendingAccess> OperationQueue::first() {
  const std::lock_guard guard(pending_mutex_);
  return pending_.empty() ? nullptr : pending_.front();
}

void OperationQueue::remove_first() {
  const std::lock_guard guard(pending_mutex_);
  pending_.pop_front();
}

}  // namespace nacre::mpi
