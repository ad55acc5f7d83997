// NodeLinks: when the links of nodes to the network are busy, in each direction.
#ifndef NACRE_SIM_TIME_NODE_LINKS_H_
#define NACRE_SIM_TIME_NODE_LINKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time/busy_timeline.h"
#include "sim/time/timing.h"

namespace nacre::sim {

/// Direction of a transfer, seen from the node.
enum class LinkSide : std::uint8_t { out, in };

/// Each direction of a link has one transfer at a time, in the order of the calls. Not thread-safe.
class NodeLinks {
 public:
  explicit NodeLinks(int node_count) : links_(static_cast<std::size_t>(node_count)) {}

  /// Occupies the link of `node` for `length` nanoseconds, as soon as the transfers before have
  /// left it, but not before `now`. Returns when it begins. `now` must not be earlier than in any
  /// previous call.
  SimulatedTime occupy(std::int32_t node, LinkSide side, SimulatedTime now, SimulatedTime length);
  /// When the link of `node` was busy in the direction that was busier.
  [[nodiscard]] const BusyTimeline& busy_times(std::int32_t node) const;

 private:
  struct Side {
    SimulatedTime until = 0;
    BusyTimeline busy;
  };
  std::vector<std::array<Side, 2>> links_;  // by node and LinkSide
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_NODE_LINKS_H_
