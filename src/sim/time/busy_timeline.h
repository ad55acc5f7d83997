// BusyTimeline: when a resource was busy, in a fixed number of intervals.
#ifndef NACRE_SIM_TIME_BUSY_TIMELINE_H_
#define NACRE_SIM_TIME_BUSY_TIMELINE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "sim/time/timing.h"

namespace nacre::sim {

/// The intervals are equally long, from time 0 on. They become twice as long when the time exceeds
/// them, so the size does not depend on the length of the job.
class BusyTimeline {
 public:
  static constexpr std::size_t interval_count = 128;

  /// The resource is busy from `begin` to `end`. Times may come in any order.
  void add(SimulatedTime begin, SimulatedTime end);
  /// The time during which the resource was busy; times that overlap count several times.
  [[nodiscard]] SimulatedTime total() const { return total_; }
  /// The length of an interval.
  [[nodiscard]] SimulatedTime interval() const { return interval_; }
  /// The busy time in each interval; empty if the resource was never busy.
  [[nodiscard]] std::span<const SimulatedTime> intervals() const { return busy_; }

 private:
  SimulatedTime interval_ = 16 * microsecond;
  std::vector<SimulatedTime> busy_;  // interval_count, once there is any
  SimulatedTime total_ = 0;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_BUSY_TIMELINE_H_
