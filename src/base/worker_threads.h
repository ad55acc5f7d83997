// Threads that work for whoever has something to do, so that starting one is not part of it.
#ifndef NACRE_BASE_WORKER_THREADS_H_
#define NACRE_BASE_WORKER_THREADS_H_

#include <functional>

namespace nacre {

/// Runs `job` on a thread of the process' own, soon: at once where fewer than `thread_count_max`
/// (>= 1) have work, else when one is through. Threads are started as they are needed and stay;
/// they are helper threads (helper_thread.h). Where there are none to be had, it runs before this
/// returns. Thread-safe.
void run_on_worker(std::function<void()> job, int thread_count_max);

}  // namespace nacre

#endif  // NACRE_BASE_WORKER_THREADS_H_
