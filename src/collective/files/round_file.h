// RoundFile: moves an aggregator's rounds between its cycle buffers and the file.
#ifndef NACRE_COLLECTIVE_FILES_ROUND_FILE_H_
#define NACRE_COLLECTIVE_FILES_ROUND_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/files/file_jobs.h"
#include "collective/files/file_source.h"
#include "collective/profile/profile.h"
#include "collective/rounds/coverage.h"
#include "plan/direction.h"
#include "plan/domains/file_domains.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// Makes the jobs of rounds and evaluates their outcomes. After the first error it does not access
/// the file any more.
class RoundFile {
 public:
  virtual ~RoundFile() = default;

  /// Whether there are rounds from `round` on; some of them may have no bytes.
  [[nodiscard]] virtual bool has_round(std::int64_t round) = 0;
  /// The bytes of the cycle buffer that a round uses.
  [[nodiscard]] virtual std::int64_t round_bytes(std::int64_t round) = 0;

  /// The job of a round whose bytes are in the cycle buffer `buffer`. A write moves the bytes in
  /// `marked` and no other byte. A read moves the bytes in `marked`, and perhaps more; null: the
  /// whole round.
  [[nodiscard]] FileJob make_job(plan::Direction direction, std::int64_t round, std::byte* buffer,
                                 const Coverage* marked);
  /// Evaluates a job that has run.
  void finish(FileJob& job);
  /// The first error of a job.
  [[nodiscard]] Status status() const;
  /// The end of the file as reads found it; the largest number if no read reached it.
  [[nodiscard]] std::int64_t file_end_seen() const { return file_end_seen_; }

 protected:
  RoundFile(FileSource& source, Profiler& profiler) : source_(source), profiler_(profiler) {}
  [[nodiscard]] Profile& profile() { return profiler_.profile(); }

 private:
  virtual void add_ranges(FileJob& job, std::int64_t round, const Coverage* marked) = 0;

  FileSource& source_;
  Profiler& profiler_;
  std::optional<Error> error_;
  std::int64_t file_end_seen_ = std::numeric_limits<std::int64_t>::max();
};

/// Rounds of the file domain `domain`: bytes lie in the cycle buffer as they lie in the file
/// (plan::RoundPiece::origin). `first_byte`: of all accesses. `domains` must outlive the result.
[[nodiscard]] std::unique_ptr<RoundFile> make_domain_file(const plan::FileDomains& domains,
                                                          int domain, std::int64_t first_byte,
                                                          FileSource& source, Profiler& profiler);

/// A member of the aggregator's group: its part of each cycle buffer, and the access of which each
/// round moves as many bytes.
struct Segment {
  Extent in_buffer;
  plan::FileAccess access;
};

/// Rounds of static segmentation: the bytes of each rank lie together in the cycle buffer, in the
/// order of its access. One call moves bytes that are adjacent in the file, of whichever ranks they
/// are. Ignores marks: a round is always complete. Memory: 32 bytes for each run of a round.
[[nodiscard]] std::unique_ptr<RoundFile> make_segment_file(std::vector<Segment> segments,
                                                           FileSource& source, Profiler& profiler);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_ROUND_FILE_H_
