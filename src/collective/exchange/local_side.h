// LocalSide: a rank's own bytes in an exchange, between its memory and the cycle buffers of
// aggregators, and of relays to those elsewhere, on its node: one copy, no message.
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

/// Each aggregator is dealt with by itself, as far as it lets this rank go. An aggregator waits for
/// every rank of its node, so each says at once from which round on it has bytes.
class LocalSide {
 public:
  /// `node` is in the call; `walks` are those of the access with its aggregators, by number. What
  /// is referred to outlives this.
  LocalSide(Transport& transport, const ExchangeAccess& access, const NodeRounds& node,
            const plan::CollectivePlan& plan, std::span<const plan::DomainWalk> walks);

  [[nodiscard]] bool done() const { return lanes_.empty(); }
  /// Goes on as far as the aggregators allow; whether that was anywhere.
  bool step();

 private:
  /// What there is to do with one aggregator, of number `aggregator` on the node, or its relay.
  struct Lane {
    int aggregator;
    bool requests_first;        ///< reading: it is to be told what is wanted
    plan::DomainWalk walk;      ///< to place, or to take
    plan::DomainWalk requests;  ///< to ask for; where nobody asks, not used
  };
  bool step(Lane& lane);
  bool move(Lane& lane);
  bool ask(Lane& lane);
  void publish(RoundMemory::Word& word, const plan::DomainWalk& walk) const;
  [[nodiscard]] std::int64_t progress_of(const RoundMemory::Word& word) const;

  Transport& transport_;
  ExchangeAccess access_;
  const NodeRounds& node_;
  std::vector<Lane> lanes_;
  std::vector<plan::RoundPiece> pieces_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_LOCAL_SIDE_H_
