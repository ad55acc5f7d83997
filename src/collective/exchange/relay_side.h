// RelaySide: gathers the bytes of a node for an aggregator on another node, or distributes the
// bytes that the aggregator sends.
#ifndef NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_

#include <memory>

#include "collective/exchange/driven_rounds.h"
#include "collective/profile/profile.h"
#include "collective/rounds/node_rounds.h"
#include "collective/rounds/round_copies.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// One rank of the node stands in for the aggregator. It has cycle buffers for the aggregator's
/// rounds, and the ranks of the node use them like those of an aggregator on their own node. Where
/// an aggregator accesses the file, the relay exchanges one message a round with the aggregator, of
/// all bytes that ranks of the node have in the round; none if they have no bytes. The aggregator
/// knows the views of these ranks and therefore the content of the message.
struct Relay {
  plan::Direction direction;
  int number;           ///< of the aggregator on this node
  int aggregator_rank;  ///< the rank of the aggregator
  Profiler& profiler;
  RoundCopies& copies;
};

/// `rounds` has begun the call. All arguments must outlive the result.
[[nodiscard]] std::unique_ptr<DrivenRounds> make_relay_side(Transport& transport,
                                                            const Relay& relay,
                                                            const NodeRounds& rounds);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_RELAY_SIDE_H_
