// AggregatorRounds: the rounds of an aggregator, or of its relay, in the memory of a node, and the
// progress that it and the ranks of the node publish.
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

/// For one call.
class AggregatorRounds {
 public:
  /// `node` has begun the call and must outlive this; `number` is that of the aggregator on its
  /// node.
  AggregatorRounds(Transport& transport, const NodeRounds& node, int number,
                   plan::Direction direction)
      : transport_(transport), node_(node), number_(number), direction_(direction) {}

  [[nodiscard]] std::byte* buffer(std::int64_t round) const {
    return node_.memory().buffer(number_, round);
  }
  /// NodeRounds::message_room().
  [[nodiscard]] std::span<std::byte> message_room(std::int64_t round) const {
    return node_.message_room(number_, round);
  }
  [[nodiscard]] Coverage coverage(std::int64_t round) const {
    return node_.coverage(number_, round, direction_);
  }
  /// Whether `round` has a slot if `oldest` is the oldest round that uses one.
  [[nodiscard]] bool has_slot(std::int64_t round, std::int64_t oldest) const {
    return round - oldest < node_.slot_count();
  }

  /// All ranks of the node have placed (requested) or taken their bytes of rounds before the
  /// result.
  [[nodiscard]] std::int64_t placed_by_all() const {
    return minimum_progress(&RoundMemory::placed_until);
  }
  [[nodiscard]] std::int64_t taken_by_all() const {
    return minimum_progress(&RoundMemory::taken_until);
  }

  /// Opens all rounds that have a slot if `oldest` is the oldest round that uses one; the marks of
  /// earlier rounds are clear. Does not open rounds in which no rank of the node has bytes: the
  /// next round with bytes may be far away.
  void open_from(std::int64_t oldest);
  /// The next round in which any rank may have bytes, after all ranks of the node are past `round`.
  /// `elsewhere` is the next round in which ranks of other nodes have bytes.
  [[nodiscard]] std::int64_t round_after(std::int64_t round, std::int64_t elsewhere) const;
  /// Marks the bytes of ranks of other nodes in `round`; gaps of at most `bridged_bytes` may be
  /// marked too.
  void mark(std::int64_t round, const RoundShare& share, std::int64_t bridged_bytes) const;
  /// Publishes that rounds before `round` have been read.
  void publish_filled(std::int64_t round);

  /// Tries to begin this aggregator's turn, if the aggregators of a node write one at a time. Not
  /// called during a turn.
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
