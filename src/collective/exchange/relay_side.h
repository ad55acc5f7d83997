// RelaySide: what a node sends to an aggregator elsewhere, or has from it, gathered on the node.
#ifndef NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_

#include <memory>

#include "collective/exchange/driven_rounds.h"
#include "collective/profile/profile.h"
#include "collective/rounds/node_rounds.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// One rank of the node stands in for the aggregator: it has cycle buffers for the aggregator's
/// rounds, in which the ranks of the node place their bytes as in those of an aggregator of their
/// own (or ask for them, and take them out). What a file is to an aggregator is a message to it:
/// one a round, of what the node's ranks have in it together; none where they have nothing. The
/// aggregator knows their views, and so what is in it.
struct Relay {
  plan::Direction direction;
  int number;           ///< of the aggregator on this node
  int aggregator_rank;  ///< where it is
  Profiler& profiler;
};

/// `rounds` is in the call. What is referred to outlives the side.
[[nodiscard]] std::unique_ptr<DrivenRounds> make_relay_side(Transport& transport,
                                                            const Relay& relay,
                                                            const NodeRounds& rounds);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_
