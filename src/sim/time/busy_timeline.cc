#include "sim/time/busy_timeline.h"

#include <algorithm>

namespace nacre::sim {

void BusyTimeline::add(SimulatedTime begin, SimulatedTime end) {
  if (begin >= end) return;
  total_ += end - begin;
  busy_.resize(interval_count);
  const auto reach = [&] { return interval_ * static_cast<SimulatedTime>(interval_count); };
  while (end > reach()) {
    for (std::size_t i = 0; i < interval_count / 2; ++i) {
      busy_[i] = busy_[2 * i] + busy_[2 * i + 1];
    }
    std::fill(busy_.begin() + interval_count / 2, busy_.end(), 0);
    interval_ *= 2;
  }
  for (SimulatedTime at = begin; at < end;) {
    const SimulatedTime index = at / interval_;
    const SimulatedTime next = std::min(end, (index + 1) * interval_);
    busy_[static_cast<std::size_t>(index)] += next - at;
    at = next;
  }
}

}  // namespace nacre::sim
