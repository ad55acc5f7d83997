// SegmentFile: rounds in which each rank's bytes lie together, in the order of its own access, as
// static segmentation has them.
#ifndef NACRE_COLLECTIVE_FILES_SEGMENT_FILE_H_
#define NACRE_COLLECTIVE_FILES_SEGMENT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/extent.h"
#include "collective/files/round_file.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// A member of the aggregator's group: its part of each cycle buffer, and what it accesses, a part
/// a round.
struct Segment {
  Extent in_buffer;
  plan::FileAccess access;
};

/// What is adjacent in the file goes in one call, whoever brought it. Memory: 32 bytes a run of a
/// round.
class SegmentFile final : public RoundFile {
 public:
  SegmentFile(std::vector<Segment> segments, FileSource& source, Profiler& profiler)
      : RoundFile(source, profiler), segments_(std::move(segments)) {}

  [[nodiscard]] bool has_round(std::int64_t round) override { return round_bytes(round) > 0; }
  [[nodiscard]] std::int64_t round_bytes(std::int64_t round) override;
  /// All of the round, whatever is marked.
  [[nodiscard]] FileJob write(std::int64_t round, std::byte* buffer,
                              const Coverage& marked) override;
  [[nodiscard]] FileJob read(std::int64_t round, std::byte* buffer) override;

 private:
  [[nodiscard]] FileJob job(plan::Direction direction, std::int64_t round, std::byte* buffer);

  std::vector<Segment> segments_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_SEGMENT_FILE_H_
