// CycleBuffer: the memory of an aggregator's round, and its way to and from the file.
#ifndef NACRE_COLLECTIVE_CYCLE_BUFFER_H_
#define NACRE_COLLECTIVE_CYCLE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "collective/coverage.h"
#include "collective/file_source.h"
#include "collective/profile.h"
#include "plan/collective_plan.h"
#include "plan/domain_walk.h"
#include "plan/memory_access.h"
#include "plan/run_cursor.h"
#include "store/store.h"

namespace nacre::collective {

/// The aggregator `aggregator` of a plan. After the first error it leaves the file alone.
class CycleBuffer {
 public:
  CycleBuffer(const plan::CollectivePlan& plan, int aggregator, plan::Direction direction,
              FileSource& source, Profiler& profiler);

  /// The buffer; plan::RoundPiece::origin says what lies where.
  [[nodiscard]] std::byte* data() { return data_.get(); }

  /// The bytes of `piece` of `view` are wanted, or are going to be filled.
  void mark(const plan::TiledMap& view, const plan::RoundPiece& piece);
  /// Writes what was marked, and nothing else; ready for the next round.
  void write_round(std::int64_t round);
  /// Reads what was marked, short gaps included; bytes beyond the end of the file are zeros. Ready
  /// for the next round's marks.
  void read_round(std::int64_t round);

  [[nodiscard]] Status status() const;
  /// Where reading found the file to end; the largest number where it met no end.
  [[nodiscard]] std::int64_t file_end_seen() const { return file_end_seen_; }

 private:
  template <class Visit>
  void for_each_range(std::int64_t round, std::int64_t bridged_bytes, Visit visit);
  /// The file; null after an error.
  [[nodiscard]] store::StoreFile* file();

  plan::CollectivePlan plan_;
  int aggregator_;
  FileSource& source_;
  Profiler& profiler_;
  std::int64_t bridged_bytes_;
  std::unique_ptr<std::byte[]> data_;
  Coverage coverage_;
  std::vector<Extent> extents_;
  std::optional<Error> error_;
  std::int64_t file_end_seen_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_CYCLE_BUFFER_H_
