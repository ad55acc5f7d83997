// The collective operations of one file. They run one after the other, in the order in which the
// program started them: all ranks run the same operation, and one tag per file is enough.
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

/// A nonblocking or split data access.
class PendingAccess {
 public:
  PendingAccess(collective::Task<file::Outcome> task, collective::Transport& transport)
      : operation_(std::in_place, std::move(task), transport) {}
  /// An access that has completed: independent ones do when they start.
  explicit PendingAccess(file::Outcome outcome) : outcome_(std::move(outcome)), done_(true) {}

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  /// done().
  [[nodiscard]] const file::Outcome& outcome() const { return outcome_; }
  /// Sets the callback of the thread that completes the access. Before the access is queued.
  void when_done(std::function<void()> action) { when_done_ = std::move(action); }
  /// A call of the program begins, or ends, to wait for the access: meanwhile its time counts as
  /// that of the access.
  void wait_begins() { waiting_calls_.fetch_add(1, std::memory_order_relaxed); }
  void wait_ends() { waiting_calls_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  friend class OperationQueue;
  /// True when the access has completed.
  bool advance();
  void finish();
  void conclude();

  std::optional<collective::Operation<file::Outcome>> operation_;
  file::Outcome outcome_;
  std::function<void()> when_done_;
  std::atomic<int> waiting_calls_ = 0;
  std::atomic<bool> done_ = false;
};

/// Held by the thread that progresses a queue. Unlike with a std::mutex, the holder may try_lock():
/// progress on one file enters the MPI's progress engine, which calls back to progress all files.
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
  /// Queues `access` and progresses it, without waiting.
  void start(std::shared_ptr<PendingAccess> access);

  /// Progresses pending operations, without waiting for messages; returns at once if another thread
  /// does. True while operations are pending.
  bool poll();

  /// Nothing is pending.
  [[nodiscard]] bool idle();

  /// Completes `access` and all operations before it.
  void finish(const PendingAccess& access);

  /// Completes pending operations, then `task`.
  template <class T>
  T run(collective::Task<T> task, collective::Transport& transport) {
    const std::lock_guard guard(drive_);
    drain();
    return collective::run_to_end(std::move(task), transport);
  }

 private:
  /// Completes all pending operations. With drive_ held.
  void drain();
  /// Null if none is pending.
  [[nodiscard]] std::shared_ptr<PendingAccess> first();
  void remove_first();

  DriveLock drive_;
  std::mutex pending_mutex_;
  std::deque<std::shared_ptr<PendingAccess>> pending_;
};

}  // namespace nacre::mpi

#endif  // NACRE_MPI_PROGRESS_OPERATION_QUEUE_H_
