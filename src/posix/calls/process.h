// All that this library knows of its process, and what the interposed functions share.
#ifndef NACRE_POSIX_CALLS_PROCESS_H_
#define NACRE_POSIX_CALLS_PROCESS_H_

#include <cstdint>
#include <optional>

#include "posix/buffering/buffering.h"
#include "posix/calls/descriptors.h"
#include "posix/counts/counted_files.h"
#include "posix/system/clock.h"

namespace nacre::posix {

class Process {
 public:
  /// When the library is loaded: reads NACRE_REPORT and NACRE_IOBUF.
  void start();
  /// At the end of the process: writes what is in memory and appends the line of the report.
  void end();
  /// Before another program takes the process over: the same. If it does not, call
  /// after_failed_exec().
  void before_exec();
  void after_failed_exec() { buffering.after_failed_exec(); }
  /// Whether anything is to be done in this process. False in a child of vfork, which shares the
  /// memory of its parent: there all calls go to the system.
  [[nodiscard]] bool is_on() const { return is_on_ && is_own_process(); }
  [[nodiscard]] bool is_counting() const { return report_ != nullptr; }
  void before_fork() { buffering.before_fork(); }
  void after_fork_in_parent() { buffering.after_fork_in_parent(); }
  void after_fork_in_child();
  /// Before another process begins: it may access files, and inherits descriptors.
  void begin_process();
  /// The same before vfork(), whose child runs in the calling thread's memory.
  void before_vfork();
  /// The same before clone() of a process that shares this one's memory, as another thread.
  void before_shared_clone();

  /// The library of an MPI-IO call counts and buffers by itself: calls from its code are left out.
  void leave_out_calls_from(const void* begin, const void* end);
  [[nodiscard]] bool is_left_out(const void* caller) const;

  /// After `descriptor` was opened as `path`, in `took` nanoseconds.
  void opened(int descriptor, const char* path, int flags, std::int64_t took);
  /// After the stream's file was opened with `flags` of open(): stdio accesses it by functions of
  /// its own.
  void opened_stream(int descriptor, const char* path, int flags, std::int64_t took);
  /// The same for a C++ stream, which opens its file by fopen() but accesses it by the descriptor.
  void opened_cxx_stream(int descriptor, const char* path, int flags, std::int64_t took);
  /// Whether the file of a stream may be buffered: that of a C++ stream.
  [[nodiscard]] bool has_buffered_streams() const {
    return has_buffered_streams_.load(std::memory_order_relaxed);
  }
  void duplicated(int descriptor, int copy);
  /// Before a descriptor is closed by a call that can fail with `error`, the errno of an earlier
  /// write. Returns what the descriptor was.
  Descriptor closing(int descriptor, int& error);
  /// The same before a call that reports no such error.
  void closing(int descriptor);
  /// The descriptor's buffered file, if it has one, is accessed by other means from now on.
  void leave_alone(int descriptor);
  /// The same, also after its descriptors are closed.
  void leave_alone_for_good(int descriptor);
  /// Writes what is in memory for the descriptor's file, before a call that depends on its bytes or
  /// changes them.
  void flush(int descriptor);
  /// The same for the file at `path`, relative to `directory`.
  void flush(int directory, const char* path);

  /// After a call that has changed the descriptor's file: discards what another thread has read
  /// ahead meanwhile. Keeps errno.
  void changed(const Descriptor& descriptor);

  /// Counts a call on an open file.
  void count(const Descriptor& descriptor, CallKind kind, std::int64_t took) {
    if (descriptor.file != 0) files.counts(descriptor.file)[kind].add(took);
  }
  /// Counts a read or write. `bytes`: what the system returned. `is_direct`: it went to the file as
  /// it is.
  void count(const Descriptor& descriptor, AccessKind kind, std::int64_t bytes, std::int64_t took,
             bool is_direct);

  CountedFiles files;
  Buffering buffering;
  Descriptors descriptors;

 private:
  struct Code {
    std::atomic<const char*> begin = nullptr;
    std::atomic<const char*> end = nullptr;
  };
  static constexpr std::size_t left_out_max = 8;

  void opened(int descriptor, const Buffering::Opening& opening, bool is_stream, std::int64_t took);
  void report_calls();

  const char* report_ = nullptr;
  [[nodiscard]] bool is_own_process() const;

  std::int64_t started_ = 0;
  int owner_ = 0;
  /// 1 in this process, 0 in its children until after_fork_in_child(); null: compare processes.
  std::atomic<std::atomic<int>*> own_mark_ = nullptr;
  std::atomic<bool> has_buffered_streams_ = false;
  bool is_on_ = false;
  std::array<Code, left_out_max> left_out_;
};

extern Process process;

/// Whether this thread may be a child of vfork(), which shares even its parent's thread.
extern constinit thread_local bool may_be_child_of_vfork;

inline bool Process::is_own_process() const {
  const auto* const mark = own_mark_.load(std::memory_order_relaxed);
  if (mark == nullptr) return owner_ == system_process();
  if (mark->load(std::memory_order_relaxed) == 0) return false;
  if (!may_be_child_of_vfork) return true;
  if (owner_ != system_process()) return false;
  may_be_child_of_vfork = false;  // the parent has returned
  return true;
}

/// Whether a path that a call was refused for may be of the job. The program may have passed any
/// address.
[[nodiscard]] inline bool is_of_job(const char* path) {
  return path != nullptr && errno != EFAULT && !is_of_system(path);
}

/// The time since it was made.
class Stopwatch {
 public:
  [[nodiscard]] std::int64_t nanoseconds() const { return now_nanoseconds() - started_; }

 private:
  std::int64_t started_ = now_nanoseconds();
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_CALLS_PROCESS_H_
