#include "base/worker_threads.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/helper_thread.h"

namespace nacre {
namespace {

struct Pool {
  std::mutex mutex;
  std::condition_variable has_job;
  std::deque<std::function<void()>> jobs;
  int thread_count = 0;
  int idle_count = 0;
};

/// Never destroyed: its threads use it until the process ends.
Pool& pool() {
  static auto* instance = new Pool;
  return *instance;
}

/// Runs the first job without the lock. There must be one.
void run_next(Pool& here, std::unique_lock<std::mutex>& guard) {
  const std::function<void()> job = std::move(here.jobs.front());
  here.jobs.pop_front();
  guard.unlock();
  job();
  guard.lock();
}

void work_forever() {
  Pool& here = pool();
  std::unique_lock guard(here.mutex);
  while (true) {
    ++here.idle_count;
    here.has_job.wait(guard, [&] { return !here.jobs.empty(); });
    --here.idle_count;
    run_next(here, guard);
  }
}

/// After a thread could not start: runs the jobs on the calling thread if the pool has no thread.
void work_here() {
  Pool& here = pool();
  std::unique_lock guard(here.mutex);
  --here.thread_count;
  while (here.thread_count == 0 && !here.jobs.empty()) run_next(here, guard);
}

}  // namespace

void run_on_worker(std::function<void()> job, int thread_count_max) {
  Pool& here = pool();
  bool starts_one = false;
  {
    const std::lock_guard guard(here.mutex);
    here.jobs.push_back(std::move(job));
    const bool all_busy = std::ssize(here.jobs) > here.idle_count;
    starts_one = all_busy && here.thread_count < thread_count_max;
    if (starts_one) ++here.thread_count;
  }
  if (starts_one && !start_helper_thread(work_forever)) work_here();
  here.has_job.notify_one();
}

}  // namespace nacre
