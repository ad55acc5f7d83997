#include "collective/files/segment_file.h"

#include <algorithm>
#include <functional>

namespace nacre::collective {
namespace {

/// How many bytes of `segment` are in `round`.
std::int64_t bytes_in(const Segment& segment, std::int64_t round) {
  const std::int64_t whole_rounds = segment.access.byte_count / segment.in_buffer.length;
  if (round < whole_rounds) return segment.in_buffer.length;
  return round == whole_rounds ? segment.access.byte_count % segment.in_buffer.length : 0;
}

}  // namespace

std::int64_t SegmentFile::round_bytes(std::int64_t round) {
  std::int64_t end = 0;
  for (const Segment& segment : segments_) {
    const std::int64_t bytes = bytes_in(segment, round);
    if (bytes > 0) end = std::max(end, segment.in_buffer.offset + bytes);
  }
  return end;
}

FileJob SegmentFile::job(plan::Direction direction, std::int64_t round, std::byte* buffer) {
  FileJob job = begin_job(direction, buffer);
  for (const Segment& segment : segments_) {
    const std::int64_t bytes = bytes_in(segment, round);
    if (bytes == 0) continue;
    const std::int64_t first_byte = segment.access.first_byte + round * segment.in_buffer.length;
    std::int64_t place = segment.in_buffer.offset;
    plan::RunCursor cursor(segment.access.view, first_byte, bytes);
    for (plan::RunSeries group = cursor.next(); group.count > 0; group = cursor.next()) {
      for (std::int64_t i = 0; i < group.count; ++i) {
        job.ranges.push_back({{place, group.length}, group.offset + i * group.stride});
        place += group.length;
      }
    }
  }
  std::ranges::sort(job.ranges, std::less<>(), &FileJob::Range::in_file);
  open_for(job);
  return job;
}

FileJob SegmentFile::write(std::int64_t round, std::byte* buffer, const Coverage&) {
  return job(plan::Direction::write, round, buffer);
}

FileJob SegmentFile::read(std::int64_t round, std::byte* buffer) {
  return job(plan::Direction::read, round, buffer);
}

}  // namespace nacre::collective
