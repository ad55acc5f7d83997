#include "mpi/progress/operation_queue.h"

namespace nacre::mpi {

bool PendingAccess::advance() {
  if (!operation_->advance()) return false;
  conclude();
  return true;
}

void PendingAccess::finish() {
  operation_->finish();
  conclude();
}

void PendingAccess::conclude() {
  outcome_ = std::move(operation_->value());
  operation_.reset();  // lets go of the program's types and of the buffers
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
  while (true) {
    std::shared_ptr<PendingAccess> front;
    {
      const std::lock_guard guard(pending_mutex_);
      if (pending_.empty()) return false;
      front = pending_.front();
    }
    if (!front->advance()) return true;
    const std::lock_guard guard(pending_mutex_);
    pending_.pop_front();
  }
}

bool OperationQueue::idle() {
  const std::lock_guard guard(pending_mutex_);
  return pending_.empty();
}

void OperationQueue::finish(const PendingAccess& access) {
  if (access.done()) return;
  const std::lock_guard guard(drive_);
  if (!access.done()) drain();
}

void OperationQueue::drain() {
  while (true) {
    std::shared_ptr<PendingAccess> front;
    {
      const std::lock_guard guard(pending_mutex_);
      if (pending_.empty()) return;
      front = pending_.front();
    }
    front->finish();
    const std::lock_guard guard(pending_mutex_);
    pending_.pop_front();
  }
}

}  // namespace nacre::mpi
