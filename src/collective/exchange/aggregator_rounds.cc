#include "collective/exchange/aggregator_rounds.h"

#include <algorithm>

#include "collective/rounds/round_copies.h"

namespace nacre::collective {

void AggregatorRounds::open_from(std::int64_t oldest) {
  const std::int64_t limit = oldest + node_.slot_count();
  if (limit <= open_until_ || placed_by_all() >= limit) return;
  open_until_ = limit;
  publish(node_.memory().open_until(number_), open_until_);
}

std::int64_t AggregatorRounds::round_after(std::int64_t round, std::int64_t elsewhere) const {
  const std::int64_t placed = placed_by_all();
  // A rank may have placed bytes in it, even if all ranks are past it.
  if (round + 1 < std::min(placed, open_until_)) return round + 1;
  return std::min(placed, elsewhere);
}

void AggregatorRounds::mark(std::int64_t round, const RoundShare& share,
                            std::int64_t bridged_bytes) const {
  Coverage marked = coverage(round);
  for (const RoundPart& part : share.parts) {
    for (const plan::RoundPiece& piece : share.pieces_of(part)) {
      mark_piece(marked, *part.view, piece, bridged_bytes);
    }
  }
}

void AggregatorRounds::publish_filled(std::int64_t round) {
  publish(node_.memory().filled_until(number_), round);
}

bool AggregatorRounds::begin_turn() const {
  return node_.memory().writer().exchange(1, std::memory_order_acquire) == 0;
}

void AggregatorRounds::end_turn() const {
  node_.memory().writer().store(0, std::memory_order_release);
  ring_others(transport_, node_.driving_ranks());
}

std::int64_t AggregatorRounds::minimum_progress(Words words) const {
  std::int64_t slowest = no_round;
  for (int rank = 0; rank < std::ssize(node_.node_ranks()); ++rank) {
    slowest = std::min(slowest, node_.round_in((node_.memory().*words)(rank, number_)));
  }
  return slowest;
}

void AggregatorRounds::publish(RoundMemory::Word& word, std::int64_t round) const {
  node_.publish(word, round);
  ring_others(transport_, node_.node_ranks());
}

}  // namespace nacre::collective
