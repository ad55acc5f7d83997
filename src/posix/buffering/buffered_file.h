// A file whose small writes and reads are gathered in buffers.
#ifndef NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_
#define NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "posix/buffering/rules.h"
#include "posix/counts/file_counts.h"
#include "posix/system/system.h"

namespace nacre::posix {

struct BufferedFile;

/// Bytes of a file in memory.
struct Buffer {
  /// filling: the program appends to it. queued: the helper thread writes, or reads, it.
  enum class State : std::uint8_t { free, filling, queued, filled };

  BufferedFile* file = nullptr;
  std::byte* memory = nullptr;
  std::int64_t offset = 0;  ///< in the file of the first byte; at_end: wherever the file ends
  std::int64_t bytes = 0;
  std::int64_t since = 0;  ///< when its first byte was written, or when it was read
  std::int64_t used = 0;   ///< when the program read from it, by BufferedFile::uses
  Buffer* next = nullptr;  ///< in the queue of the helper thread
  int descriptor = -1;     ///< by which to access the file
  int pieces = 0;          ///< writes of the program that are in it
  bool is_for_reading = false;
  bool is_stale = false;  ///< queued to be read, but the file has changed meanwhile
  State state = State::free;

  static constexpr std::int64_t at_end = -1;
};

/// A regular file that the process has open, however many descriptors lead to it. Files that are
/// left alone have no buffers: all calls go to the system.
struct BufferedFile {
  static constexpr std::size_t name_bytes_max = 256;

  FileIdentity identity;
  const Rule* rule = nullptr;
  AccessCounts* writes = nullptr;  ///< null if nothing is counted
  AccessCounts* reads = nullptr;
  int descriptors = 0;
  int users = 0;                ///< calls that are inside: the file is not released under them
  std::uint8_t generation = 0;  ///< which file that has had this place in the table
  bool is_left_alone = false;   ///< from now on until the last close; its buffers may be full yet
  /// These two are read without the lock.
  std::atomic<bool> is_empty = false;  ///< left alone, and nothing is in memory any more
  std::atomic<int> error = 0;      ///< errno of a write that failed, until a call has returned it
  int lonely_buffers = 0;          ///< buffers in a row that gathered only one write each
  bool is_shared = false;          ///< with a process that began: nothing is read ahead
  std::uint64_t last_write = 0;    ///< number of its last write in the queue
  std::uint64_t last_queued = 0;   ///< the same, of its last write or read
  std::int64_t read_end = 0;       ///< of the last read
  std::int64_t fetched_bytes = 0;  ///< read from the file into buffers
  std::int64_t served_bytes = 0;   ///< read from buffers by the program
  std::int64_t uses = 0;           ///< reads from buffers
  Buffer* filling = nullptr;
  Buffer* buffers = nullptr;  ///< those for writing, then those for reading; null until needed
  std::array<char, name_bytes_max> failed_name;  ///< path of the file whose write failed
  std::size_t failed_name_bytes = 0;

  [[nodiscard]] bool is_in_use() const { return descriptors > 0 || users > 0; }
  /// The one that the program fills, and those that wait.
  [[nodiscard]] std::span<Buffer> write_buffers() const {
    return buffers == nullptr ? std::span<Buffer>{} : std::span{buffers, write_buffer_count()};
  }
  /// The one that the program reads, and those ahead of it.
  [[nodiscard]] std::span<Buffer> read_buffers() const {
    return buffers == nullptr ? std::span<Buffer>{}
                              : std::span{buffers + write_buffer_count(), read_buffer_count()};
  }
  [[nodiscard]] std::size_t write_buffer_count() const {
    return static_cast<std::size_t>(rule->count) + 1;
  }
  [[nodiscard]] std::size_t read_buffer_count() const {
    return static_cast<std::size_t>(rule->prefetch) + 1;
  }
  [[nodiscard]] std::size_t buffers_bytes() const;
  /// Make room, without bytes, for all buffers, and then for the bytes of one. False: no memory.
  [[nodiscard]] bool allocate_buffers();
  [[nodiscard]] bool allocate(Buffer& buffer) const;
  /// A write by `descriptor` failed with errno `failed`.
  void note_error(int descriptor, int failed);
  /// The place in the table is free for the next generation. Releases no memory.
  void clear();
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_
