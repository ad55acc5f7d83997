// Gathers a process's small sequential writes and reads of files that NACRE_IOBUF names.
#ifndef NACRE_POSIX_BUFFERING_BUFFERING_H_
#define NACRE_POSIX_BUFFERING_BUFFERING_H_

#include <cstdint>
#include <span>

#include <sys/uio.h>

#include "posix/buffering/buffered_file.h"
#include "posix/buffering/file_set.h"
#include "posix/buffering/rules.h"
#include "posix/system/lock.h"

namespace nacre::posix {

/// Whether a call was carried out here. If not, the caller calls the system's function.
struct Outcome {
  bool is_done = false;
  ssize_t value = 0;  ///< as read() and write() return it, with errno
};

/// All buffered files of a process, and those that must not be buffered since the process accesses
/// them by other means too. The descriptors' positions stay with the system: an access reserves its
/// range by moving the position, which processes that share a descriptor may do at the same time. A
/// helper thread writes and reads the buffers; without one (it cannot be started) the calling
/// thread does. Threads may call every function at any time, with the number of a file that is
/// closed too: it is not buffered. Constant-initialised.
///
/// Guarantees: fsync, close, exit, fork, exec, abort and signals that end the process write all
/// bytes that the program wrote before; no byte stays longer than two seconds in memory; at most
/// size x (count + 1) bytes of a file do. An error of a write is returned by the next write, fsync
/// or close of the file, and otherwise a warning says it.
class Buffering {
 public:
  static constexpr std::uint16_t file_count_max = 255;

  constexpr Buffering() = default;

  /// Reads NACRE_IOBUF, which must outlive this object; prints a warning if it is wrong, in
  /// processes without a rank and in rank 0.
  void start(const char* rules);
  [[nodiscard]] bool is_on() const { return !rules_.is_empty(); }
  /// The rule of a file that was opened as `path`; null: it must not be buffered.
  [[nodiscard]] const Rule* rule_for(int descriptor, const char* path) const;

  /// How a file was opened.
  struct Opening {
    const char* path = nullptr;
    int flags = 0;
    bool is_hidden = false;  ///< accessed by functions that are not seen
  };
  /// After an open. The number of the file; 0: it is no regular file, or there are too many.
  /// `counts`: where accesses are counted; may be null.
  [[nodiscard]] std::uint16_t opened(int descriptor, const Opening& opening, FileCounts* counts);
  /// After a descriptor was duplicated.
  void duplicated(std::uint16_t number);
  /// Before a descriptor is closed. Returns the errno that the close has to report, or 0; with
  /// `can_report` it counts as reported. Warns of an error that no later call can report.
  int closing(std::uint16_t number, bool can_report);

  /// `offset` < 0: at the descriptor's position. `is_append`: the descriptor has O_APPEND.
  Outcome write(std::uint16_t number, int descriptor, std::span<const iovec> from,
                std::int64_t offset, bool is_append);
  Outcome read(std::uint16_t number, int descriptor, std::span<std::byte> to, std::int64_t offset);

  /// Writes what is in memory.
  void flush(std::uint16_t number);
  /// The same before a call that changes the file by other means: nothing read stays in memory.
  void flush_and_forget(std::uint16_t number);
  /// After such a call: another thread may have read ahead meanwhile.
  void forget(std::uint16_t number);
  /// The errno of a write that failed, or 0; the caller returns it to the program.
  [[nodiscard]] int take_error(std::uint16_t number);
  /// Buffers the file no more: it is locked, or accessed by functions that are not seen.
  void leave_alone(std::uint16_t number);
  /// The same, also after its last descriptor is closed: it is mapped.
  void leave_alone_for_good(std::uint16_t number);
  /// Before a call on a path that depends on the file's size. False: nothing was in memory.
  bool flush(const FileIdentity& identity);
  /// Before a call on a path that changes the file.
  void flush_and_forget(const FileIdentity& identity);
  void flush_all();
  /// After other processes may have changed files.
  void forget_all();
  /// The same, and before they look at files of this one: a lock is acquired or released.
  void flush_and_forget_all();
  /// Before a process begins that may access the files: the same, and nothing of files that are
  /// open now is read ahead any more.
  void share_all();
  /// Before another program takes the process over: flushes, and warns of errors that no call has
  /// returned. Nothing new is buffered until after_failed_exec().
  void before_exec();
  void after_failed_exec();
  /// At the end of the process: flushes and warns as before_exec(), and buffers no more.
  void finish();
  /// Before the process's threads stop sharing descriptors: flushes, ends the helper thread, which
  /// would keep the old descriptors open, and buffers no more.
  void stop();

  /// Around fork(): between them nothing new is buffered, and no lock is held, since other
  /// libraries' handlers run there.
  void before_fork();
  void after_fork_in_parent();
  /// In the child other threads are gone, whatever they were doing: it buffers files that it opens
  /// itself, and leaves alone what it has inherited.
  void after_fork_in_child();

 private:
  friend void* run_helper(void* buffering);
  enum class Helper : std::uint8_t { none, starts, runs, failed, stops };
  class Use;

  // buffering.cc: files.
  /// Null if the file is closed.
  [[nodiscard]] BufferedFile* file(std::uint16_t number) const;
  /// Whether all calls on the file go to the system. Takes no lock.
  [[nodiscard]] bool passes_by(std::uint16_t number) const;
  [[nodiscard]] bool allocate();
  [[nodiscard]] BufferedFile* add(const FileIdentity& identity, const Rule* rule,
                                  FileCounts* counts);
  [[nodiscard]] BufferedFile* find(const FileIdentity& identity) const;
  /// The caller keeps the file from being released.
  void leave_alone(BufferedFile& file);
  void release(BufferedFile& file);
  [[nodiscard]] std::span<BufferedFile> all_files() const { return {files_, count_}; }
  void forget_reads(BufferedFile& file);
  void forget_all_reads();
  void warn_of_errors();

  // helper.cc: the queue and the thread that works on it.
  void start_helper();
  void help();
  void submit_old_buffers();
  [[nodiscard]] bool has_filling_buffers() const;
  void submit(BufferedFile& file);
  void enqueue(Buffer& buffer);
  void carry_out(Buffer& buffer);
  void settle(Buffer& buffer);
  /// Waits for the buffers that are queued up to now.
  void wait_for(std::uint64_t number);
  void drain(BufferedFile& file);
  void drain_all();
  [[nodiscard]] bool is_dirty(const BufferedFile& file) const {
    return file.filling != nullptr || file.last_write > settled_;
  }

  // writes.cc
  [[nodiscard]] bool can_write(const BufferedFile& file) const;
  [[nodiscard]] bool append(BufferedFile& file, int descriptor, std::span<const iovec> from);
  /// Puts all parts at `offset`, or at the position, which moves. False: the system gives no
  /// offset, or one that is too large.
  [[nodiscard]] bool put_all(BufferedFile& file, int descriptor, std::span<const iovec> from,
                             std::int64_t offset);
  void put(BufferedFile& file, int descriptor, std::span<const std::byte> from,
           std::int64_t offset);
  void write_directly(BufferedFile& file, int descriptor, std::span<const std::byte> from,
                      std::int64_t offset);
  /// Begins a buffer at `offset`, or waits for one: look again what has changed. False if there is
  /// no memory: the file is left alone.
  [[nodiscard]] bool begin_buffer(BufferedFile& file, int descriptor, std::int64_t offset);

  // reads.cc
  [[nodiscard]] bool can_read(const BufferedFile& file) const;
  [[nodiscard]] Buffer* find_read_buffer(BufferedFile& file, std::int64_t offset);
  [[nodiscard]] Buffer* victim(BufferedFile& file, std::int64_t current);
  [[nodiscard]] Buffer* read_ahead(BufferedFile& file, int descriptor, std::int64_t block,
                                   std::int64_t current);
  [[nodiscard]] std::int64_t copy_from_buffers(BufferedFile& file, int descriptor,
                                               std::span<std::byte> to, std::int64_t offset);

  Rules rules_;
  Lock lock_;
  Event event_;  ///< the queue, or a buffer, has changed
  BufferedFile* files_ = nullptr;
  std::uint16_t count_ = 0;
  FileSet left_alone_;           ///< for good, see leave_alone_for_good
  Buffer* queue_ = nullptr;      ///< first in, first out: writes of one place keep their order
  std::uint64_t submitted_ = 0;  ///< buffers that were ever queued
  std::uint64_t settled_ = 0;    ///< of these, from the first on
  int pauses_ = 0;               ///< forks and execs that are under way: nothing new is buffered
  Helper helper_ = Helper::none;
  bool is_finished_ = false;
};

/// A call on a file: holds the lock, and keeps the file from being released while the call waits.
class Buffering::Use {
 public:
  Use(Buffering& all, std::uint16_t number)
      : locked_(all.lock_), event_(all.event_), file_(all.file(number)) {
    if (file_ != nullptr) ++file_->users;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    if (file_ != nullptr && --file_->users > 0 && file_->descriptors == 0) event_.raise();
  }
  /// Null if it is closed.
  [[nodiscard]] BufferedFile* file() const { return file_; }

 private:
  const Locked locked_;
  Event& event_;
  BufferedFile* const file_;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_BUFFERING_H_
