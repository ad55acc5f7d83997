#include "collective/sieve_windows.h"

#include <algorithm>

namespace nacre::collective {
namespace {

constexpr std::int64_t long_run_bytes = 64 << 10;
constexpr std::int64_t least_density_inverse = 4;

}  // namespace

SieveWindow SieveWindows::next() {
  SieveWindow window;
  window.hull = peek();
  if (window.hull.empty()) return window;
  window.data_bytes = window.hull.length;
  ++index_;
  for (Extent run = peek(); !run.empty(); run = peek()) {
    const bool touches = run.offset == window.hull.end();
    if (touches && !window.has_gaps) {
      window.hull.length += run.length;
      window.data_bytes += run.length;
      ++index_;
      continue;
    }
    if (!may_bridge(window, run)) break;
    window.has_gaps = true;
    window.hull.length = run.end() - window.hull.offset;
    window.data_bytes += run.length;
    ++index_;
    take_equal_runs(window);
  }
  return window;
}

Extent SieveWindows::peek() {
  if (index_ == group_.count) {
    group_ = cursor_.next();
    index_ = 0;
  }
  return {group_.offset + index_ * group_.stride, group_.length};
}

bool SieveWindows::may_bridge(const SieveWindow& window, const Extent& run) const {
  const std::int64_t gap = run.offset - window.hull.end();
  const bool has_long_run = !window.has_gaps && window.hull.length >= long_run_bytes;
  if (gap < 0 || has_long_run || run.length >= long_run_bytes) return false;
  // Against overflow: an access may span the whole range of offsets.
  if (gap > buffer_bytes_) return false;
  const std::int64_t length = window.hull.length + gap + run.length;
  if (length > buffer_bytes_) return false;
  return gap <= bridged_gap_bytes_ ||
         length <= least_density_inverse * (window.data_bytes + run.length);
}

void SieveWindows::take_equal_runs(SieveWindow& window) {
  const std::int64_t gap = group_.stride - group_.length;
  if (gap < 0 || gap > bridged_gap_bytes_) return;
  const std::int64_t fitting = (buffer_bytes_ - window.hull.length) / group_.stride;
  const std::int64_t count = std::min(group_.count - index_, fitting);
  window.hull.length += count * group_.stride;
  window.data_bytes += count * group_.length;
  index_ += count;
}

}  // namespace nacre::collective
