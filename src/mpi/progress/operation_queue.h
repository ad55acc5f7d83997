// The collective operations of one file, run one after the other in the order the program started
// them, so that every rank runs the same one and one tag per file is enough.
#ifndef NACRE_MPI_PROGRESS_OPERATION_QUEUE_H_
#define NACRE_MPI_PROGRESS_OPERATION_QUEUE_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "collective/task/task.h"
#include "file/open_file.h"

namespace nacre::mpi {

/// A data access that was started and not waited for: nonblocking or split.
class PendingAccess {
 public:
  PendingAccess(collective::Task<file::Outcome> task, collective::Transport& transport)
      : operation_(std::in_place, std::move(task), transport) {}
  /// An access that has already ended (independent nonblocking ones).
  explicit PendingAccess(file::Outcome outcome) : outcome_(std::move(outcome)), done_(true) {}

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  /// done().
  [[nodiscard]] const file::Outcome& outcome() const { return outcome_; }
  /// Called once, by whichever thread ends the access; to be set before it is queued.
  void when_done(std::function<void()> action) { when_done_ = std::move(action); }

 private:
  friend class OperationQueue;
  /// True when it has ended.
  bool advance();
  void finish();
  void conclude();

  std::optional<collective::Operation<file::Outcome>> operation_;
  file::Outcome outcome_;
  std::function<void()> when_done_;
  std::atomic<bool> done_ = false;
};

/// Held by whoever drives a queue. Unlike a std::mutex it may be tried by the thread that holds it:
/// an MPI's progress engine, entered while we drive one file, calls back to drive the others.
class DriveLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) held_.wait(true);
  }
  [[nodiscard]] bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() {
    held_.store(false, std::memory_order_release);
    held_.notify_one();
  }

 private:
  std::atomic<bool> held_ = false;
};

/// Thread-safe.
class OperationQueue {
 public:
  /// Queues `access` and lets it go as far as it can without waiting.
  void start(std::shared_ptr<PendingAccess> access);

  /// Lets pending operations go on; returns at once where another thread is at it. Never waits for
  /// a message. True while some are pending.
  bool poll();

  /// Nothing is pending.
  [[nodiscard]] bool idle();

  /// Runs `access` and all before it to the end.
  void finish(const PendingAccess& access);

  /// Runs what is pending, then `task`, to the end.
  template <class T>
  T run(collective::Task<T> task, collective::Transport& transport) {
    const std::lock_guard guard(drive_);
    drain();
    return collective::run_to_end(std::move(task), transport);
  }

 private:
  void drain();

  DriveLock drive_;
  std::mutex pending_mutex_;
  std::deque<std::shared_ptr<PendingAccess>> pending_;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_PROGRESS_OPERATION_QUEUE_H_
