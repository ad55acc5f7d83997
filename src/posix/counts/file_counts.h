// What one process did with one file.
#ifndef NACRE_POSIX_COUNTS_FILE_COUNTS_H_
#define NACRE_POSIX_COUNTS_FILE_COUNTS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nacre::posix {

/// A sum that threads add to.
class Counter {
 public:
  void add(std::int64_t value) { value_.fetch_add(value, std::memory_order_relaxed); }
  void clear() { value_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

/// Calls that move no data, by kind.
enum class CallKind : std::uint8_t { open, close, stat, seek, sync, truncate, map, flush };
inline constexpr std::array<std::string_view, 8> call_kind_names{
    "open", "close", "stat", "seek", "sync", "truncate", "map", "flush"};

struct CallCounts {
  Counter calls;
  Counter nanoseconds;

  void add(std::int64_t took) {
    calls.add(1);
    nanoseconds.add(took);
  }
};

/// Reads or writes of a file.
struct AccessCounts {
  static constexpr std::size_t size_class_count = 48;

  Counter calls;        ///< of the program
  Counter bytes;        ///< that the program moved
  Counter nanoseconds;  ///< that the program waited
  Counter file_calls;   ///< accesses to the file: fewer than calls if they are buffered
  Counter file_bytes;   ///< their bytes
  /// Accesses by size: class c has those of [2^(c-1), 2^c) bytes.
  std::array<Counter, size_class_count> sizes;

  void add_file_call(std::int64_t size) { add_file_calls(1, size); }
  /// `count` accesses of `size` bytes each.
  void add_file_calls(std::int64_t count, std::int64_t size) {
    file_calls.add(count);
    file_bytes.add(count * size);
    const auto wanted = std::bit_width(static_cast<std::uint64_t>(size));
    sizes[std::min<std::size_t>(wanted, size_class_count - 1)].add(count);
  }
};

/// How the program accesses the file: by descriptors, or by streams of stdio, which gather small
/// pieces in a buffer.
enum class AccessKind : std::uint8_t { read, write, stream_read, stream_write };
inline constexpr std::array<std::string_view, 4> access_kind_names{"read", "write", "stream_read",
                                                                   "stream_write"};

struct FileCounts {
  std::array<CallCounts, call_kind_names.size()> calls;
  std::array<AccessCounts, access_kind_names.size()> accesses;

  [[nodiscard]] CallCounts& operator[](CallKind kind) {
    return calls[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] AccessCounts& operator[](AccessKind kind) {
    return accesses[static_cast<std::size_t>(kind)];
  }
  /// A stream of the file was closed: the bytes in its buffer were accesses to the file too.
  void count_rests() {
    for (const AccessKind kind : {AccessKind::stream_read, AccessKind::stream_write}) {
      AccessCounts& counts = (*this)[kind];
      const std::int64_t rest = counts.bytes.get() - counts.file_bytes.get();
      if (rest > 0) counts.add_file_call(rest);
    }
  }
  /// Time in all calls.
  [[nodiscard]] std::int64_t nanoseconds() const {
    std::int64_t sum = 0;
    for (const CallCounts& one : calls) sum += one.nanoseconds.get();
    for (const AccessCounts& one : accesses) sum += one.nanoseconds.get();
    return sum;
  }
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_COUNTS_FILE_COUNTS_H_
