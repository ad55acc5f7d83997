// AggregatorRounds: the rounds of an aggregator, or its relay, in the memory of a node, and what it
// and the ranks of the node tell each other of them.
#ifndef NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_ROUNDS_H_
#define NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_ROUNDS_H_

#include <cstddef>
#include <cstdint>

#include "collective/rounds/coverage.h"
#include "collective/rounds/node_rounds.h"
#include "collective/rounds/round_memory.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// Of one call.
class AggregatorRounds {
 public:
  /// `node` is in the call; `number` is the aggregator's on its node. Both outlive this.
  AggregatorRounds(Transport& transport, const NodeRounds& node, int number,
                   plan::Direction direction)
      : transport_(transport), node_(node), number_(number), direction_(direction) {}

  [[nodiscard]] std::byte* buffer(std::int64_t round) const {
    return node_.memory().buffer(number_, round);
  }
  [[nodiscard]] Coverage coverage(std::int64_t round) const {
    return node_.coverage(number_, round, direction_);
  }
  /// Whether `round` has a slot, when all before `oldest` have given theirs back.
  [[nodiscard]] bool has_slot(std::int64_t round, std::int64_t oldest) const {
    return round - oldest < node_.slot_count();
  }

  /// The rounds before which all ranks of the node are done, by what they have said.
  [[nodiscard]] std::int64_t placed_by_all() const {
    return minimum_progress(&RoundMemory::placed_until);
  }
  [[nodiscard]] std::int64_t taken_by_all() const {
    return minimum_progress(&RoundMemory::taken_until);
  }

  /// The marks of rounds before `oldest` are clear: opens all rounds that have a slot then, unless
  /// no rank of the node has bytes in them: it may be far to the next one in which anybody has.
  void open_from(std::int64_t oldest);
  /// All ranks of the node are past `round`: the next one in which anybody may have bytes, where
  /// ranks of other nodes next have some in `elsewhere`.
  [[nodiscard]] std::int64_t round_after(std::int64_t round, std::int64_t elsewhere) const;
  /// Marks what ranks of other nodes have in `round`; gaps of `bridged_bytes` may be marked too.
  void mark(std::int64_t round, const RoundShare& share, std::int64_t bridged_bytes) const;
  /// Rounds before `round` have been read.
  void publish_filled(std::int64_t round);

  /// Where the aggregators of a node write one at a time. A turn is not begun twice.
  [[nodiscard]] bool begin_turn() const;
  void end_turn() const;

 private:
  using Words = RoundMemory::Word& (RoundMemory::*)(int rank, int aggregator) const;
  [[nodiscard]] std::int64_t minimum_progress(Words words) const;
  void publish(RoundMemory::Word& word, std::int64_t round) const;

  Transport& transport_;
  const NodeRounds& node_;
  int number_;
  plan::Direction direction_;
  std::int64_t open_until_ = 0;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_ROUNDS_H_
