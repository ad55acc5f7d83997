// SoleSide: exchanges the bytes of the only rank of a node with an aggregator on another node.
#ifndef NACRE_COLLECTIVE_EXCHANGE_SOLE_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_SOLE_SIDE_H_

#include <memory>

#include "collective/exchange/driven_rounds.h"
#include "collective/rounds/exchange_access.h"
#include "collective/rounds/node_rounds.h"
#include "collective/task/transport.h"
#include "plan/domains/domain_walk.h"

namespace nacre::collective {

struct SoleTask {
  const ExchangeAccess& access;
  int number;  ///< of the aggregator on this node
  int aggregator_rank;
};

/// The rank takes the place of a relay: there is no other rank whose bytes it could gather. It
/// exchanges one message with the aggregator in each round in which it has bytes. A message whose
/// bytes are in one run in the rank's memory is sent from there, or received there; another is
/// packed in a cycle buffer. `walk`: of the access through the domain of the aggregator. The
/// arguments and the access must outlive the result.
[[nodiscard]] std::unique_ptr<DrivenRounds> make_sole_side(Transport& transport,
                                                           const SoleTask& task,
                                                           const NodeRounds& rounds,
                                                           const plan::DomainWalk& walk);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_SOLE_SIDE_H_
