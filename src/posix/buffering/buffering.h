// Gathers a process's small sequential writes and reads of files that NACRE_IOBUF names.
#ifndef NACRE_POSIX_BUFFERING_BUFFERING_H_
#define NACRE_POSIX_BUFFERING_BUFFERING_H_

#include <array>
#include <cstdint>
#include <span>

#include <sys/uio.h>

#include "posix/buffering/buffered_file.h"
#include "posix/buffering/rules.h"
#include "posix/system/lock.h"

namespace nacre::posix {

/// Whether a call was carried out here. If not, the caller calls the system's function.
struct Outcome {
  bool is_done = false;
  ssize_t value = 0;  ///< as read() and write() return it, with errno
};

/// All buffered files of a process. The descriptors' positions stay with the system: a write
/// reserves its range by moving the position, which processes that share a descriptor may do at the
/// same time. A helper thread writes and reads the buffers; without one (it cannot be started) the
/// calling thread does. Threads may call every function at any time. Constant-initialised.
///
/// Guarantees: fsync, close, exit, fork, exec, abort and signals that end the process write all
/// bytes that the program wrote before; no byte stays longer than two seconds in memory; at most
/// size x (count + 1) bytes of a file do. An error of a write is returned by the next write, fsync
/// or close of the file.
class Buffering {
 public:
  static constexpr std::uint16_t file_count_max = 256;

  constexpr Buffering() = default;

  /// Reads NACRE_IOBUF; prints a warning if it is wrong, in processes without a rank and in rank 0.
  void start(const char* rules);
  [[nodiscard]] bool is_on() const { return !rules_.is_empty(); }
  [[nodiscard]] const Rules& rules() const { return rules_; }

  /// After an open. The number of the buffered file, from 1; 0: this descriptor is not buffered.
  /// `counts`: where accesses are counted; may be null.
  [[nodiscard]] std::uint16_t opened(int descriptor, const char* path, int flags,
                                     FileCounts* counts);
  /// After a descriptor was duplicated.
  void duplicated(std::uint16_t number);
  /// Before a descriptor is closed. Returns the errno that the close has to report, or 0; with
  /// `can_report` it counts as reported. Warns of an error that no later call can report.
  int closing(std::uint16_t number, bool can_report);

  /// `offset` < 0: at the descriptor's position. `is_append`: the descriptor has O_APPEND.
  Outcome write(std::uint16_t number, int descriptor, std::span<const iovec> from,
                std::int64_t offset, bool is_append);
  Outcome read(std::uint16_t number, int descriptor, void* to, std::int64_t bytes,
               std::int64_t offset);

  /// Writes what is in memory.
  void flush(std::uint16_t number);
  /// The same before a call that changes the file by other means: nothing read stays in memory.
  void flush_and_forget(std::uint16_t number);
  /// The errno of a write that failed, or 0; the caller returns it to the program.
  [[nodiscard]] int take_error(std::uint16_t number);
  /// Buffers the file no more: it is locked, mapped, or accessed by functions that are not seen.
  void leave_alone(std::uint16_t number);
  void leave_alone(const FileIdentity& identity);
  /// Before a call on a path that depends on the file's size. False: nothing was in memory.
  bool flush(const FileIdentity& identity);
  void flush_all();
  /// Before another program takes the process over, or a signal ends it: flushes, and warns of
  /// errors that no call has returned.
  void flush_and_warn();
  /// At the end of the process: the same, and buffers no more.
  void finish();
  /// Before the process's threads stop sharing descriptors: flushes, ends the helper thread, which
  /// would keep the old descriptors open, and buffers no more.
  void stop();

  /// Around fork(): between them no other thread is inside.
  void before_fork();
  void after_fork(bool is_child);

 private:
  friend void* run_helper(void* buffering);
  enum class Helper : std::uint8_t { none, runs, failed, stops };

  [[nodiscard]] BufferedFile& file(std::uint16_t number) { return files_[number - 1]; }
  [[nodiscard]] bool allocate();
  [[nodiscard]] std::uint16_t add(const FileIdentity& identity, const Rule& rule,
                                  FileCounts* counts);
  [[nodiscard]] BufferedFile* find(const FileIdentity& identity);
  void start_helper();
  void help();
  void submit_old_buffers();
  [[nodiscard]] bool has_filling_buffers() const;

  void append(BufferedFile& file, int descriptor, std::span<const iovec> from);
  void put(BufferedFile& file, int descriptor, std::span<const std::byte> from,
           std::int64_t offset);
  /// Begins a buffer at `offset`. False if it had to wait for one: look again what has changed.
  [[nodiscard]] bool begin_buffer(BufferedFile& file, int descriptor, std::int64_t offset);
  void submit(BufferedFile& file);
  void enqueue(Buffer& buffer);
  void carry_out(Buffer& buffer);
  void settle(Buffer& buffer);
  void drain(BufferedFile& file);
  void drain_all();
  void warn_of_errors();
  void forget_reads(BufferedFile& file);
  void release(BufferedFile& file);

  [[nodiscard]] Buffer* find_read_buffer(BufferedFile& file, std::int64_t offset);
  [[nodiscard]] Buffer* read_ahead(BufferedFile& file, int descriptor, std::int64_t offset);
  [[nodiscard]] std::int64_t copy_from_buffers(BufferedFile& file, int descriptor,
                                               std::span<std::byte> to, std::int64_t offset);

  Rules rules_;
  Lock lock_;
  Event event_;  ///< the queue, or a buffer, has changed
  BufferedFile* files_ = nullptr;
  std::uint16_t count_ = 0;
  Buffer* queue_ = nullptr;  ///< first in, first out: writes of one place keep their order
  Helper helper_ = Helper::none;
  bool is_helping_ = false;
  bool is_finished_ = false;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_BUFFERING_H_
