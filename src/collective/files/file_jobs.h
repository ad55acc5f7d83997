// The file accesses of an aggregator: FileJob is those of one round, FileJobs runs them.
#ifndef NACRE_COLLECTIVE_FILES_FILE_JOBS_H_
#define NACRE_COLLECTIVE_FILES_FILE_JOBS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/profile/profile.h"
#include "collective/task/transport.h"
#include "plan/direction.h"
#include "store/store.h"

namespace nacre::collective {

/// The file accesses of one round. A RoundFile fills it in, any thread runs it once, and the
/// RoundFile evaluates the outcome.
struct FileJob {
  struct Range {
    Extent in_buffer;
    std::int64_t in_file = 0;
  };

  plan::Direction direction = plan::Direction::read;
  store::StoreFile* file = nullptr;  ///< null: do not access the file
  std::byte* buffer = nullptr;
  /// In the order of the file. One call moves ranges that are adjacent in the file; a read also
  /// bridges short gaps.
  std::vector<Range> ranges;
  bool is_timed = false;  ///< measure the time of each call of the store

  // The outcome.
  std::vector<FileCall> calls;  ///< of the store
  std::optional<Error> error;   ///< no call follows a failed one
  /// The end of the file, if a read reached it.
  std::int64_t file_end = std::numeric_limits<std::int64_t>::max();

  /// A read fills ranges that it cannot read, or that lie beyond the end of the file, with zeros:
  /// other ranks must not get stray bytes of this process.
  void run();
  /// Gaps up to this long are read together with the ranges around them; a write bridges none.
  [[nodiscard]] std::int64_t bridged_bytes() const;

 private:
  /// The end of the ranges that one call moves together with the range `first`.
  [[nodiscard]] std::size_t batch_end(std::size_t first) const;
  void write(std::span<const Range> batch);
  /// `since`: when the call began.
  void note_call(const Extent& moved, std::int64_t since);
  void read(std::span<const Range> batch);
};

/// The running jobs of an aggregator, at most one for each round. They begin in the order in which
/// they were started, and are taken in this order. The first write of the rank to the file runs
/// alone: on Lustre it gets the lock of the whole object, while writes that begin together take
/// parts of it from each other. The time that the rank itself spends in a job is Phase::file; the
/// time of helper threads is Profile::file_thread_nanoseconds and file_busy_nanoseconds. None is
/// measured if the call is not timed.
class FileJobs {
 public:
  /// `transport` and `profiler` must outlive this. `io_thread_count` 0: the rank runs the jobs.
  FileJobs(Transport& transport, Profiler& profiler, int io_thread_count)
      : transport_(transport), profiler_(profiler), io_thread_count_(io_thread_count) {}
  FileJobs(const FileJobs&) = delete;
  FileJobs& operator=(const FileJobs&) = delete;
  /// Waits for the helper threads that run jobs, and adds their time to the profile.
  ~FileJobs();

  /// Runs the job of `round` in one of at most `io_thread_count` helper threads, or here if there
  /// are none.
  void start(std::int64_t round, FileJob job);
  [[nodiscard]] bool empty() const { return running_.empty(); }
  /// The round of the oldest job. Requires !empty().
  [[nodiscard]] std::int64_t oldest() const { return running_.front().round; }
  /// Removes and returns the oldest job, with its outcome, if it has run.
  [[nodiscard]] std::optional<FileJob> take_oldest();

 private:
  /// Shared by the rank and the thread that runs the job.
  struct State {
    FileJob job;
    std::atomic<bool> done = false;  ///< set last
  };
  struct Running {
    std::int64_t round;
    std::shared_ptr<State> state;
  };
  /// The jobs that no helper thread has begun. Here their threads are counted, because the process
  /// may have more helper threads than this aggregator may use.
  struct Queue {
    /// Counts one more thread if there is a job for it, and less than `thread_count_max` threads.
    [[nodiscard]] bool admit_thread(int thread_count_max);
    /// Runs the first job, if there is one. Returns whether this thread is to run another one.
    bool run_next(bool is_timed);
    /// Whether this thread has a job to begin; otherwise it counts no longer. Requires the mutex.
    bool go_on();

    std::mutex mutex;
    bool first_runs_alone = false;  ///< one thread is enough until the first job has run
    bool first_has_run = false;
    std::deque<std::shared_ptr<State>> waiting;
    int thread_count = 0;
    int running_count = 0;                ///< jobs that threads run now
    std::int64_t busy_since = 0;          ///< if there are such jobs
    std::int64_t busy_nanoseconds = 0;    ///< while there were
    std::int64_t thread_nanoseconds = 0;  ///< of all jobs that have run
  };

  /// Starts threads for the jobs that wait.
  void start_threads();

  Transport& transport_;
  Profiler& profiler_;
  int io_thread_count_;
  std::deque<Running> running_;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_FILE_JOBS_H_
