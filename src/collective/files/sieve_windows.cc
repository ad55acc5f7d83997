#include "collective/files/sieve_windows.h"

#include <algorithm>

namespace nacre::collective {

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
  if (index_ == series_.count) {
    series_ = cursor_.next();
    index_ = 0;
  }
  return {series_.offset + index_ * series_.stride, series_.length};
}

bool SieveWindows::may_bridge(const SieveWindow& window, const Extent& run) const {
  const std::int64_t gap = run.offset - window.hull.end();
  const bool begins_long = !window.has_gaps && window.hull.length > call_cost_bytes_;
  if (gap < 0 || begins_long) return false;
  // Against overflow: an access may span the whole range of offsets.
  if (gap > call_cost_bytes_ || gap + run.length > call_cost_bytes_) return false;
  return window.hull.length + gap + run.length <= buffer_bytes_;
}

void SieveWindows::take_equal_runs(SieveWindow& window) {
  if (series_.stride < series_.length || series_.stride > call_cost_bytes_) return;
  const std::int64_t fitting = (buffer_bytes_ - window.hull.length) / series_.stride;
  const std::int64_t count = std::min(series_.count - index_, fitting);
  window.hull.length += count * series_.stride;
  window.data_bytes += count * series_.length;
  index_ += count;
}

}  // namespace nacre::collective
