// DomainFile: the way of an aggregator's rounds to and from the file.
#ifndef NACRE_COLLECTIVE_DOMAIN_FILE_H_
#define NACRE_COLLECTIVE_DOMAIN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/coverage.h"
#include "collective/file_job.h"
#include "collective/file_source.h"
#include "collective/profile.h"
#include "plan/collective_plan.h"
#include "plan/memory_access.h"
#include "store/store.h"

namespace nacre::collective {

/// The aggregator `aggregator` of a plan. A round's bytes lie in its cycle buffer as
/// plan::RoundPiece::origin says. After the first error it leaves the file alone.
class DomainFile {
 public:
  DomainFile(const plan::CollectivePlan& plan, int aggregator, FileSource& source,
             Profiler& profiler)
      : plan_(plan), aggregator_(aggregator), source_(source), profiler_(profiler) {}

  /// The bytes of the cycle buffer that a round takes up; 0 behind the last round.
  [[nodiscard]] std::int64_t round_bytes(std::int64_t round);
  // Jobs of a round, which finish() is told of when they have run.
  /// Writes what is marked, and nothing else.
  [[nodiscard]] FileJob write(std::int64_t round, std::byte* buffer, const Coverage& marked);
  /// Reads what is marked, short gaps included.
  [[nodiscard]] FileJob read(std::int64_t round, std::byte* buffer, const Coverage& marked);
  /// The same for all of the round.
  [[nodiscard]] FileJob read_whole(std::int64_t round, std::byte* buffer);
  void finish(FileJob& job);

  [[nodiscard]] Status status() const;
  /// Where reading found the file to end; the largest number where it met no end.
  [[nodiscard]] std::int64_t file_end_seen() const { return file_end_seen_; }

 private:
  [[nodiscard]] FileJob begin_job(plan::Direction direction, std::int64_t round, std::byte* buffer);
  void add_marked(FileJob& job, const Coverage& marked, std::int64_t bridged_bytes);
  /// The file; null after an error.
  [[nodiscard]] store::StoreFile* file();

  const plan::CollectivePlan& plan_;
  int aggregator_;
  FileSource& source_;
  Profiler& profiler_;
  std::vector<Extent> extents_;  // of the round at hand
  std::optional<Error> error_;
  std::int64_t file_end_seen_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_FILE_H_
