#include "mpi/progress/progress.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

#include "base/helper_thread.h"
#include "mpi/abi/native.h"

namespace nacre::mpi {
namespace {

enum class Driver : std::uint8_t {
  none,           ///< nothing was ever pending
  helper_thread,  ///< MPI_THREAD_MULTIPLE
  async_hook,     ///< MPICH 4.3 and later: its progress engine calls async_poll()
  callback,       ///< Open MPI: its progress engine calls callback_poll()
  calls,          ///< only the calls of the program that Nacre interposes
};

using QueuePointer = std::shared_ptr<OperationQueue>;

/// The queues of files with pending accesses. Never destroyed: the helper thread lives until the
/// process ends.
struct Watched {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<QueuePointer> queues;
  std::atomic<int> queue_count = 0;
  std::atomic<int> pollers = 0;  ///< threads that may hold the last reference to a queue
  /// Queues that became idle inside the MPI's progress engine, where nothing may be freed.
  std::vector<QueuePointer> ended;
  std::atomic<int> ended_count = 0;
  std::atomic<Driver> driver = Driver::none;
  bool hook_running = false;
};

Watched& watched() {
  static auto* instance = new Watched;
  return *instance;
}

thread_local bool in_progress_call = false;

/// Called by the MPI's progress engine. Polling enters the engine again: only the outer call of a
/// thread polls.
void poll_inside_mpi_progress() {
  if (in_progress_call) return;
  in_progress_call = true;
  poll_all();
  in_progress_call = false;
}

std::vector<QueuePointer> queues_now() {
  Watched& all = watched();
  const std::lock_guard guard(all.mutex);
  return all.queues;
}

void poll_queues() {
  std::vector<QueuePointer> idle;
  for (const auto& queue : queues_now()) {
    if (!queue->poll()) idle.push_back(queue);
  }
  if (idle.empty()) return;
  Watched& all = watched();
  const std::lock_guard guard(all.mutex);
  for (const auto& queue : idle) {
    // An access may have been queued since.
    if (queue->idle()) std::erase(all.queues, queue);
  }
  all.queue_count.store(static_cast<int>(all.queues.size()), std::memory_order_release);
  if (!in_progress_call) return;
  std::ranges::move(idle, std::back_inserter(all.ended));
  all.ended_count.store(static_cast<int>(all.ended.size()), std::memory_order_release);
}

/// Frees files that have been closed meanwhile.
void release_ended() {
  if (in_progress_call) return;
  std::vector<QueuePointer> ended;
  Watched& all = watched();
  const std::lock_guard guard(all.mutex);
  ended.swap(all.ended);
  all.ended_count.store(0, std::memory_order_release);
}

constexpr std::chrono::microseconds helper_pause(50);

[[noreturn]] void run_helper_thread() {
  Watched& all = watched();
  while (true) {
    {
      std::unique_lock guard(all.mutex);
      all.changed.wait(guard, [&] { return !all.queues.empty(); });
    }
    poll_all();
    // Polling takes the MPI's lock, which is not fair: without a pause it would starve the calls of
    // the program.
    std::this_thread::sleep_for(helper_pause);
  }
}

// Values of MPICH's enumeration and handle, which older mpi.h lack.
constexpr int async_pending = 0;
constexpr int async_done = 1;
constexpr int stream_null = 0x3c000000;

int async_poll(void*) {
  // Only the outer call of a thread may end the hook.
  if (in_progress_call) return async_pending;
  poll_inside_mpi_progress();
  Watched& all = watched();
  const std::lock_guard guard(all.mutex);
  all.hook_running = !all.queues.empty();
  return all.hook_running ? async_pending : async_done;
}

int callback_poll() {
  if (watched().queue_count.load(std::memory_order_relaxed) > 0) poll_inside_mpi_progress();
  return 0;
}

/// Unknown in programs that use only Sessions.
std::optional<int> thread_level() {
  int level = MPI_THREAD_SINGLE;
  if (!world_model_active()) return std::nullopt;
  native().Query_thread(&level);
  return level;
}

Driver choose_driver() {
  const Native& mpi = native();
  if (thread_level() == MPI_THREAD_MULTIPLE) return Driver::helper_thread;
  if (mpi.MPIX_Async_start != nullptr && mpi.MPIX_Request_is_complete != nullptr) {
    return Driver::async_hook;
  }
  if (mpi.opal_progress_register != nullptr) return Driver::callback;
  return Driver::calls;
}

/// Called with the lock held.
void start_driver(Watched& all) {
  const bool first = all.driver == Driver::none;
  if (first) all.driver = choose_driver();
  if (all.driver == Driver::helper_thread && first) {
    if (!start_helper_thread([] { run_helper_thread(); })) all.driver = Driver::calls;
  } else if (all.driver == Driver::async_hook && !all.hook_running) {
    all.hook_running = native().MPIX_Async_start(async_poll, nullptr, stream_null) == MPI_SUCCESS;
  } else if (all.driver == Driver::callback && first) {
    native().opal_progress_register(callback_poll);
  }
}

}  // namespace

bool has_no_other_activity() {
  return watched().queue_count.load(std::memory_order_acquire) == 0 &&
         thread_level().value_or(MPI_THREAD_MULTIPLE) != MPI_THREAD_MULTIPLE;
}

void watch(const QueuePointer& queue) {
  Watched& all = watched();
  {
    const std::lock_guard guard(all.mutex);
    if (std::ranges::find(all.queues, queue) == all.queues.end()) all.queues.push_back(queue);
    all.queue_count.store(static_cast<int>(all.queues.size()), std::memory_order_relaxed);
    start_driver(all);
  }
  all.changed.notify_one();
}

void poll_all() {
  Watched& all = watched();
  if (all.ended_count.load(std::memory_order_relaxed) > 0) release_ended();
  if (all.queue_count.load(std::memory_order_relaxed) == 0) return;
  all.pollers.fetch_add(1);
  poll_queues();
  all.pollers.fetch_sub(1);
}

void finish_all_pending() {
  // Also waits until the files that were closed meanwhile are freed: that takes calls of the MPI.
  poll_until([] {
    const Watched& all = watched();
    return all.queue_count.load(std::memory_order_acquire) == 0 && all.pollers.load() == 0 &&
           all.ended_count.load(std::memory_order_acquire) == 0;
  });
}

bool inside_mpi_progress() { return in_progress_call; }

bool must_poll_while_waiting() {
  return watched().queue_count.load(std::memory_order_relaxed) > 0 && !in_progress_call;
}

}  // namespace nacre::mpi
