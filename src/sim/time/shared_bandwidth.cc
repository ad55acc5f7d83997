#include "sim/time/shared_bandwidth.h"

#include <algorithm>
#include <cmath>

namespace nacre::sim {
namespace {

constexpr double nanoseconds_per_second = 1e9;
constexpr double rounding_bytes = 1e-3;  // of sums of doubles: a transfer ends this early

}  // namespace

double SharedBandwidth::rate() const {
  const auto count = static_cast<double>(transfers_.size());
  double rate = rates_.each;
  if (rates_.all > 0) rate = rate > 0 ? std::min(rate, rates_.all / count) : rates_.all / count;
  return rate / nanoseconds_per_second;
}

/// Lets the transfers progress until now.
void SharedBandwidth::progress() {
  const SimulatedTime now = scheduler_.now();
  const SimulatedTime before = std::exchange(since_, now);
  if (transfers_.empty()) return;
  progress_bytes_ += static_cast<double>(now - before) * rate();
  busy_.add(before, now);
}

void SharedBandwidth::transfer(std::int64_t bytes) {
  if (bytes == 0 || (rates_.each <= 0 && rates_.all <= 0)) return;
  progress();
  const double end = progress_bytes_ + static_cast<double>(bytes);
  FiberQueue& self = transfers_.try_emplace({end, next_order_++}, scheduler_).first->second;
  schedule_end();
  self.wait();
}

void SharedBandwidth::end_finished() {
  progress();
  while (!transfers_.empty() &&
         transfers_.begin()->first.first <= progress_bytes_ + rounding_bytes) {
    transfers_.begin()->second.notify_all();
    transfers_.erase(transfers_.begin());
  }
  schedule_end();
}

void SharedBandwidth::schedule_end() {
  if (transfers_.empty()) return;
  const double left = std::max(0.0, transfers_.begin()->first.first - progress_bytes_);
  const auto length = static_cast<SimulatedTime>(std::ceil((left - rounding_bytes) / rate()));
  scheduler_.at(scheduler_.now() + length, [this, number = ++scheduled_] {
    if (number == scheduled_) end_finished();
  });
}

}  // namespace nacre::sim
