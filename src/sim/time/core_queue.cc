#include "sim/time/core_queue.h"

#include <algorithm>

namespace nacre::sim {

SimulatedTime CoreQueue::occupy(SimulatedTime now, SimulatedTime length) {
  if (length <= 0) return now;
  SimulatedTime& until = *std::ranges::min_element(until_);
  until = std::max(now, until) + length;
  return until;
}

}  // namespace nacre::sim
