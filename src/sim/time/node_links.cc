#include "sim/time/node_links.h"

#include <algorithm>

namespace nacre::sim {

SimulatedTime NodeLinks::occupy(std::int32_t node, LinkSide side, SimulatedTime now,
                                SimulatedTime length) {
  Side& of = links_[static_cast<std::size_t>(node)][static_cast<std::size_t>(side)];
  const SimulatedTime begin = std::max(now, of.until);
  of.until = begin + length;
  of.busy.add(begin, of.until);
  return begin;
}

const BusyTimeline& NodeLinks::busy_times(std::int32_t node) const {
  const std::array<Side, 2>& sides = links_[static_cast<std::size_t>(node)];
  const auto total = [](const Side& side) { return side.busy.total(); };
  return std::ranges::max_element(sides, {}, total)->busy;
}

}  // namespace nacre::sim
