// SieveWindows: groups the runs of an access into single reads or writes of the file.
#ifndef NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_
#define NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_

#include <cstdint>
#include <utility>

#include "base/extent.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// Data bytes of an access that one call moves. In a window with gaps, offsets rise along the data
/// stream.
struct SieveWindow {
  Extent hull;
  std::int64_t data_bytes = 0;
  bool has_gaps = false;
};

/// Runs that touch form one window of any length. Windows with gaps are at most `buffer_bytes` long
/// (0: no windows with gaps). A window includes a gap and the run after it if they are together not
/// longer than `call_cost_bytes`: moving the gap and copying the run out of the buffer then costs
/// no more than another call for the run.
class SieveWindows {
 public:
  SieveWindows(plan::RunCursor cursor, std::int64_t buffer_bytes, std::int64_t call_cost_bytes)
      : cursor_(std::move(cursor)),
        buffer_bytes_(buffer_bytes),
        call_cost_bytes_(call_cost_bytes) {}

  /// The next window; data_bytes 0 if nothing remains.
  [[nodiscard]] SieveWindow next();

 private:
  /// The current run; length 0 if none is left.
  [[nodiscard]] Extent peek();
  [[nodiscard]] bool may_bridge(const SieveWindow& window, const Extent& run) const;
  /// Adds further runs of the current series, as many as fit, at once.
  void take_equal_runs(SieveWindow& window);

  plan::RunCursor cursor_;
  std::int64_t buffer_bytes_;
  std::int64_t call_cost_bytes_;
  plan::RunSeries series_;
  std::int64_t index_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_SIEVE_WINDOWS_H_
