#include "collective/files/file_jobs.h"

#include <thread>
#include <utility>

namespace nacre::collective {

FileJobs::~FileJobs() {
  for (const Running& running : running_) {
    while (!running.state->done.load(std::memory_order_acquire)) std::this_thread::yield();
  }
}

void FileJobs::start(std::int64_t round, FileJob job) {
  auto state = std::make_shared<State>();
  state->job = std::move(job);
  running_.push_back({round, state});
  if (io_thread_count_ == 0 || state->job.ranges.empty()) {
    const PhaseScope scope(profiler_, Phase::file);
    state->job.run();
    state->done.store(true, std::memory_order_relaxed);
    return;
  }
  transport_.run_in_helper_thread(
      [state] {
        state->job.run();
        state->done.store(true, std::memory_order_release);
      },
      io_thread_count_);
}

bool FileJobs::end_oldest() {
  if (running_.empty()) return false;
  State& oldest = *running_.front().state;
  if (!oldest.done.load(std::memory_order_acquire)) return false;
  file_.finish(oldest.job);
  running_.pop_front();
  return true;
}

}  // namespace nacre::collective
