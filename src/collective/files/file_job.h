// FileJob: the file accesses of one round, to be made here or on a thread beside.
#ifndef NACRE_COLLECTIVE_FILES_FILE_JOB_H_
#define NACRE_COLLECTIVE_FILES_FILE_JOB_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "plan/direction.h"
#include "store/store.h"

namespace nacre::collective {

/// Filled in by a RoundFile, run once, by any thread, and then looked at by it again.
struct FileJob {
  struct Range {
    Extent in_buffer;
    std::int64_t in_file = 0;
  };

  plan::Direction direction = plan::Direction::read;
  store::StoreFile* file = nullptr;  ///< null: the file is left alone
  std::byte* buffer = nullptr;
  /// In the order of the file. What is adjacent there goes in one call; reads take short gaps
  /// along.
  std::vector<Range> ranges;

  // What came of it.
  std::vector<std::int64_t> moved_bytes;  ///< by call of the store
  std::optional<Error> error;             ///< nothing was tried after it
  /// Where a read found the file to end.
  std::int64_t file_end = std::numeric_limits<std::int64_t>::max();

  /// Of a read, ranges that could not be read, or lie beyond the end of the file, are zeros:
  /// whoever asked gets no stray bytes of this process.
  void run();

 private:
  /// The end of what goes in one call with the range `first`.
  [[nodiscard]] std::size_t batch_end(std::size_t first) const;
  void write(std::span<const Range> batch);
  void read(std::span<const Range> batch);
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_FILE_JOB_H_
