// How calls on streams of stdio are counted.
#ifndef NACRE_POSIX_CALLS_STREAMS_H_
#define NACRE_POSIX_CALLS_STREAMS_H_

#include <algorithm>
#include <cstdint>

#include <stdio.h>
#include <stdio_ext.h>

#include "posix/calls/process.h"

namespace nacre::posix {

/// Bytes of a buffer of stdio, if nobody asks for others.
inline constexpr std::size_t usual_stream_bytes = 4096;

/// The bytes of one access of the stream to its file.
[[nodiscard]] inline std::int64_t buffer_bytes(FILE* stream) {
  return static_cast<std::int64_t>(std::max(__fbufsize(stream), usual_stream_bytes));
}

/// What is known of a stream that is counted; all zero: it is not.
[[nodiscard]] inline Descriptor counted_stream(FILE* stream) {
  if (!process.is_counting() || stream == nullptr || !process.is_on()) return {};
  const ErrnoKeeper keeper;
  const Descriptor known = process.descriptors.get(fileno_unlocked(stream));
  return known.is_stream ? known : Descriptor{};
}

/// Before stdio itself accesses the file of a stream, which is not buffered any more. Files of C++
/// streams are buffered until the program uses their FILE.
inline void note_access_by_stdio(FILE* stream) {
  if (!process.has_buffered_streams() || stream == nullptr || !process.is_on()) return;
  const ErrnoKeeper keeper;
  const int descriptor = fileno_unlocked(stream);
  if (process.descriptors.get(descriptor).is_stream) process.leave_alone(descriptor);
}

/// Counts a call on a stream that moved `bytes`. The stream's accesses to the file are those of a
/// buffer that fills up again and again; stdio moves what is larger than the buffer by itself.
inline void count_on_stream(AccessCounts& counts, FILE* stream, std::int64_t bytes,
                            std::int64_t took) {
  counts.calls.add(1);
  counts.nanoseconds.add(took);
  if (bytes <= 0) return;
  counts.bytes.add(bytes);
  const std::int64_t buffer = buffer_bytes(stream);
  const std::int64_t after = counts.bytes.get();
  const std::int64_t filled = after / buffer - (after - bytes) / buffer;
  if (bytes >= buffer) {
    counts.add_file_call(bytes);
  } else if (filled > 0) {
    counts.add_file_calls(filled, buffer);
  }
}

/// Makes a call on a stream and counts it. `bytes_of`: of the call's result.
template <class Call, class Bytes>
auto access_stream(FILE* stream, AccessKind kind, Call call, Bytes bytes_of) {
  note_access_by_stdio(stream);
  const Descriptor known = counted_stream(stream);
  if (known.file == 0) return call();
  const Stopwatch watch;
  const auto result = call();
  const ErrnoKeeper keeper;
  count_on_stream(process.files.counts(known.file)[kind], stream,
                  static_cast<std::int64_t>(bytes_of(result)), watch.nanoseconds());
  return result;
}

/// The same for one character, which takes less time than to look at the clock: one call of so many
/// is timed for all.
template <class Result, class Call, class Bytes>
Result access_character(FILE* stream, AccessKind kind, Call call, Bytes bytes_of) {
  constexpr std::int64_t timed = 64;
  note_access_by_stdio(stream);
  const Descriptor known = counted_stream(stream);
  if (known.file == 0) return call();
  AccessCounts& counts = process.files.counts(known.file)[kind];
  const bool is_timed = counts.calls.get() % timed == 0;
  const std::int64_t before = is_timed ? now_nanoseconds() : 0;
  const Result result = call();
  const ErrnoKeeper keeper;
  const std::int64_t took = is_timed ? timed * (now_nanoseconds() - before) : 0;
  count_on_stream(counts, stream, static_cast<std::int64_t>(bytes_of(result)), took);
  return result;
}

}  // namespace nacre::posix

#endif  // NACRE_POSIX_CALLS_STREAMS_H_
