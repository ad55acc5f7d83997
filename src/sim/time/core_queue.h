// CoreQueue: the cores of one computer that emulates all nodes of a job.
#ifndef NACRE_SIM_TIME_CORE_QUEUE_H_
#define NACRE_SIM_TIME_CORE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time/timing.h"

namespace nacre::sim {

/// Assigns each computation of a rank to the core that becomes free first, in the order of the
/// calls. An operating system does the same with threads that compute for less than a time slice (a
/// millisecond or more). Not thread-safe.
class CoreQueue {
 public:
  explicit CoreQueue(std::int64_t core_count) : until_(static_cast<std::size_t>(core_count)) {}

  /// Occupies a core for `length` nanoseconds, as soon as one is free, but not before `now`.
  /// Returns when it ends: what takes no time waits for no core. `now` must not be earlier than in
  /// any previous call.
  SimulatedTime occupy(SimulatedTime now, SimulatedTime length);
  [[nodiscard]] std::size_t count() const { return until_.size(); }

 private:
  std::vector<SimulatedTime> until_;  // by core
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_CORE_QUEUE_H_
