// LocalSide: moves a rank's own bytes between its memory and the cycle buffers of the aggregators
// and relays of its node: one copy, no message.
#ifndef NACRE_COLLECTIVE_EXCHANGE_LOCAL_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_LOCAL_SIDE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collective/rounds/exchange_access.h"
#include "collective/rounds/node_rounds.h"
#include "collective/task/transport.h"
#include "plan/domains/domain_walk.h"

namespace nacre::collective {

/// Advances with each aggregator independently, as far as the aggregator has opened its rounds. An
/// aggregator waits for all ranks of its node, so each rank publishes at once the first round in
/// which it has bytes.
class LocalSide {
 public:
  /// `node` has begun the call; `walks` are the walks of the access through the domains of the
  /// aggregators of the node, by number. All arguments must outlive this.
  LocalSide(Transport& transport, const ExchangeAccess& access, const NodeRounds& node,
            const plan::CollectivePlan& plan, std::span<const plan::DomainWalk> walks);

  [[nodiscard]] bool done() const { return lanes_.empty(); }
  /// Advances as far as the aggregators allow; returns whether anything advanced.
  bool step();

 private:
  /// The work with one aggregator, or its relay.
  struct Lane {
    int aggregator;             ///< its number on the node
    bool requests_first;        ///< a read of which the aggregator needs requests
    plan::DomainWalk walk;      ///< the rounds to place or take
    plan::DomainWalk requests;  ///< the rounds to request, if requests_first
  };
  bool step(Lane& lane);
  /// Places the bytes of rounds that are open, or takes the bytes of rounds that have been read.
  bool move(Lane& lane);
  /// Marks the bytes that the rank wants of rounds that are open.
  bool request(Lane& lane);

  Transport& transport_;
  ExchangeAccess access_;
  const NodeRounds& node_;
  std::vector<Lane> lanes_;
  std::vector<plan::RoundPiece> pieces_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_LOCAL_SIDE_H_
