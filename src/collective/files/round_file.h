// RoundFile: the way of an aggregator's rounds to and from the file.
#ifndef NACRE_COLLECTIVE_FILES_ROUND_FILE_H_
#define NACRE_COLLECTIVE_FILES_ROUND_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/result.h"
#include "collective/files/file_job.h"
#include "collective/files/file_source.h"
#include "collective/profile/profile.h"
#include "collective/rounds/coverage.h"
#include "plan/direction.h"
#include "store/store.h"

namespace nacre::collective {

/// Makes the jobs of rounds, whose bytes lie in a cycle buffer, and keeps account of them. After
/// the first error it leaves the file alone.
class RoundFile {
 public:
  virtual ~RoundFile() = default;

  /// Whether there are rounds from `round` on; some of them may have no bytes.
  [[nodiscard]] virtual bool has_round(std::int64_t round) = 0;
  /// The bytes of the cycle buffer that a round takes up.
  [[nodiscard]] virtual std::int64_t round_bytes(std::int64_t round) = 0;
  // Jobs of a round, which finish() is told of when they have run.
  /// Writes what is marked, and nothing else.
  [[nodiscard]] virtual FileJob write(std::int64_t round, std::byte* buffer,
                                      const Coverage& marked) = 0;
  /// Reads all of the round.
  [[nodiscard]] virtual FileJob read(std::int64_t round, std::byte* buffer) = 0;
  /// Reads what is marked, and may read more.
  [[nodiscard]] virtual FileJob read_marked(std::int64_t round, std::byte* buffer,
                                            const Coverage&) {
    return read(round, buffer);
  }

  void finish(FileJob& job);
  [[nodiscard]] Status status() const;
  /// Where reading found the file to end; the largest number where it met no end.
  [[nodiscard]] std::int64_t file_end_seen() const { return file_end_seen_; }

 protected:
  RoundFile(FileSource& source, Profiler& profiler) : source_(source), profiler_(profiler) {}
  [[nodiscard]] FileJob begin_job(plan::Direction direction, std::byte* buffer);
  /// Gives a job with ranges the file, or none after an error.
  void open_for(FileJob& job);
  [[nodiscard]] Profile& profile() { return profiler_.profile(); }

 private:
  FileSource& source_;
  Profiler& profiler_;
  std::optional<Error> error_;
  std::int64_t file_end_seen_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_ROUND_FILE_H_
