// A file whose small writes and reads are gathered in buffers.
#ifndef NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_
#define NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>

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
  Buffer* next = nullptr;  ///< in the queue of the helper thread
  int descriptor = -1;     ///< by which to access the file
  int pieces = 0;          ///< writes of the program that are in it
  bool is_for_reading = false;
  State state = State::free;

  static constexpr std::int64_t at_end = -1;
};

/// A buffered file, however many descriptors of this process lead to it.
struct BufferedFile {
  static constexpr int buffer_count_max = Rule::count_max + 1;
  static constexpr std::size_t name_bytes_max = 256;

  FileIdentity identity;
  const Rule* rule = nullptr;
  AccessCounts* writes = nullptr;  ///< null if nothing is counted
  AccessCounts* reads = nullptr;
  int descriptors = 0;
  int queued_writes = 0;
  int error = 0;           ///< errno of a write that failed; 0 again when a call has returned it
  int lonely_buffers = 0;  ///< buffers in a row that gathered only one write each
  bool is_left_alone = false;
  bool is_position_shared = false;  ///< with another process: reads must not look ahead
  std::int64_t read_end = 0;        ///< of the last read
  Buffer* filling = nullptr;
  std::array<char, name_bytes_max> failed_name;  ///< path of the file whose write failed
  std::size_t failed_name_bytes = 0;
  std::array<Buffer, buffer_count_max> write_buffers;  ///< rule->count are used
  std::array<Buffer, buffer_count_max> read_buffers;   ///< rule->prefetch + 1 are used
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_BUFFERED_FILE_H_
