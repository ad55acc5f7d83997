// FileJobs: the file accesses of an aggregator that are under way, and the time that they take.
#ifndef NACRE_COLLECTIVE_FILES_FILE_JOBS_H_
#define NACRE_COLLECTIVE_FILES_FILE_JOBS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "collective/files/file_job.h"
#include "collective/files/round_file.h"
#include "collective/profile/profile.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// One for each round at most, ended in the order in which they were started, whatever the order in
/// which they run. Time that the rank spends in a job is Phase::file; time that a thread spends is
/// Profile::file_thread_nanoseconds. Neither is taken of a call that is not timed.
class FileJobs {
 public:
  /// What is referred to outlives this. `io_thread_count` 0: the rank runs the jobs itself.
  FileJobs(Transport& transport, RoundFile& file, Profiler& profiler, int io_thread_count)
      : transport_(transport),
        file_(file),
        profiler_(profiler),
        io_thread_count_(io_thread_count) {}
  FileJobs(const FileJobs&) = delete;
  FileJobs& operator=(const FileJobs&) = delete;
  /// Waits for the threads that it has given work to.
  ~FileJobs();

  /// Runs `job`, which is RoundFile's of `round`, on a thread beside where there is one, else
  /// here.
  void start(std::int64_t round, FileJob job);
  [[nodiscard]] bool empty() const { return running_.empty(); }
  /// The round of the oldest. Not empty().
  [[nodiscard]] std::int64_t oldest() const { return running_.front().round; }
  /// Whether the oldest has run; it is then accounted for and gone.
  bool end_oldest();

 private:
  /// Shared by the rank and the thread that runs it.
  struct State {
    FileJob job;
    std::int64_t thread_nanoseconds = 0;
    std::atomic<bool> done = false;  ///< set last
  };
  struct Running {
    std::int64_t round;
    std::shared_ptr<State> state;
  };

  /// The time of a job that has run.
  void book(const State& ended);

  Transport& transport_;
  RoundFile& file_;
  Profiler& profiler_;
  int io_thread_count_;
  std::deque<Running> running_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_FILE_JOBS_H_
