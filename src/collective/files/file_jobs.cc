#include "collective/files/file_jobs.h"

#include <thread>
#include <utility>

#include "base/clock.h"

namespace nacre::collective {

FileJobs::~FileJobs() {
  for (const Running& running : running_) {
    while (!running.state->done.load(std::memory_order_acquire)) std::this_thread::yield();
    book(*running.state);
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
      [state, is_timed = profiler_.weight() != 0] {
        const std::int64_t begin = is_timed ? monotonic_nanoseconds() : 0;
        state->job.run();
        if (is_timed) state->thread_nanoseconds = monotonic_nanoseconds() - begin;
        state->done.store(true, std::memory_order_release);
      },
      io_thread_count_);
}

void FileJobs::book(const State& ended) {
  profiler_.profile().file_thread_nanoseconds.add(ended.thread_nanoseconds * profiler_.weight());
}

bool FileJobs::end_oldest() {
  if (running_.empty()) return false;
  State& oldest = *running_.front().state;
  if (!oldest.done.load(std::memory_order_acquire)) return false;
  book(oldest);
  file_.finish(oldest.job);
  running_.pop_front();
  return true;
}

}  // namespace nacre::collective
