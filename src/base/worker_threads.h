// A pool of threads, so that a job need not wait for the start of a thread.
#ifndef NACRE_BASE_WORKER_THREADS_H_
#define NACRE_BASE_WORKER_THREADS_H_

#include <functional>

namespace nacre {

/// Runs `job` on a pool thread: at once if fewer than `thread_count_max` (>= 1) threads are busy,
/// else when a thread becomes idle. Threads are helper threads (helper_thread.h), start on demand
/// and live as long as the process. If the pool has no thread and cannot start one, this call runs
/// the job before it returns. Thread-safe.
void run_on_worker(std::function<void()> job, int thread_count_max);

}  // namespace nacre

#endif  // NACRE_BASE_WORKER_THREADS_H_
