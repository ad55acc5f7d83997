// SieveWindows: how the runs of an access are grouped into single reads or writes of the file.
#ifndef NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_
#define NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_

#include <cstdint>
#include <utility>

#include "base/extent.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// The next data bytes of an access, in one call. With gaps, offsets rise along the data stream.
struct SieveWindow {
  Extent hull;
  std::int64_t data_bytes = 0;
  bool has_gaps = false;
};

/// Runs that touch make one window however long they are. Windows with gaps are at most
/// `buffer_bytes` long (0: there are none). A gap is bridged if it and the run behind it are
/// together no longer than `call_cost_bytes`: the gap is moved for nothing, and the run is copied
/// out of the buffer once more, which is to cost no more than a call for the run alone.
class SieveWindows {
 public:
  SieveWindows(plan::RunCursor cursor, std::int64_t buffer_bytes, std::int64_t call_cost_bytes)
      : cursor_(std::move(cursor)),
        buffer_bytes_(buffer_bytes),
        call_cost_bytes_(call_cost_bytes) {}

  /// data_bytes 0 when nothing remains.
  [[nodiscard]] SieveWindow next();

 private:
  /// The run at hand; length 0 when none is left.
  [[nodiscard]] Extent peek();
  [[nodiscard]] bool may_bridge(const SieveWindow& window, const Extent& run) const;
  /// Takes the further runs of the series at hand that fit, at once.
  void take_equal_runs(SieveWindow& window);

  plan::RunCursor cursor_;
  std::int64_t buffer_bytes_;
  std::int64_t call_cost_bytes_;
  plan::RunSeries series_;
  std::int64_t index_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_
