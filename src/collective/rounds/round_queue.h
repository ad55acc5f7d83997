// RoundQueue: which partners take part in which round, and with what. Driven by the data: a round
// in which nobody has bytes does not exist, and a partner without bytes in a round costs nothing in
// it.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_QUEUE_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collective/rounds/round_memory.h"
#include "plan/domains/domain_walk.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// What one partner has in a round.
struct RoundPart {
  int relay = 0;                         ///< the rank that brings or takes it
  const plan::TiledMap* view = nullptr;  ///< of its access; held by the queue
  std::int64_t bytes = 0;
  std::size_t first_piece = 0;
  std::size_t piece_count = 0;
};

/// What all partners have in a round.
struct RoundShare {
  std::vector<RoundPart> parts;  ///< those of one relay together
  std::vector<plan::RoundPiece> pieces;

  [[nodiscard]] std::span<const plan::RoundPiece> pieces_of(const RoundPart& part) const {
    return std::span(pieces).subspan(part.first_piece, part.piece_count);
  }
};

/// The partners of an aggregator: the ranks of other nodes that it serves.
class RoundQueue {
 public:
  /// `access` is what a rank brings to `domain`, by `relay`. One without bytes in the domain is
  /// left out. `domains` outlive the queue.
  void add(int relay, const plan::FileDomains& domains, int domain, const plan::FileAccess& access);
  /// The next round in which a partner has bytes; no_round when there is none.
  [[nodiscard]] std::int64_t next_round() const {
    return heap_.empty() ? no_round : heap_.front().first;
  }
  /// Replaces `share` by what `round` has, which is nothing unless round is next_round().
  void take(std::int64_t round, RoundShare& share);

 private:
  struct Partner {
    int relay;
    plan::TiledMap view;
    plan::DomainWalk walk;
  };
  using Entry = std::pair<std::int64_t, std::size_t>;  // next round, index of the partner

  std::vector<Partner> partners_;
  std::vector<Entry> heap_;  // least first
  std::vector<plan::RoundPiece> pieces_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_QUEUE_H_
