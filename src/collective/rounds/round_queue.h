// RoundQueue: which ranks of other nodes have bytes in which round of an aggregator. It skips
// rounds in which no rank has bytes, and a rank without bytes in a round costs nothing in that
// round.
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

/// The bytes of one rank in a round.
struct RoundPart {
  int relay = 0;                         ///< the rank that sends or receives them
  const plan::TiledMap* view = nullptr;  ///< of its access; held by the queue
  std::int64_t bytes = 0;
  std::size_t first_piece = 0;
  std::size_t piece_count = 0;
};

/// The bytes of all these ranks in a round.
struct RoundShare {
  std::vector<RoundPart> parts;  ///< parts of one relay are adjacent
  std::vector<plan::RoundPiece> pieces;

  [[nodiscard]] std::span<const plan::RoundPiece> pieces_of(const RoundPart& part) const {
    return std::span(pieces).subspan(part.first_piece, part.piece_count);
  }
};

/// The ranks of other nodes that an aggregator serves.
class RoundQueue {
 public:
  /// Adds a rank with this access, whose bytes in `domain` go through `relay`. A rank without bytes
  /// in the domain is not added. `domains` must outlive the queue.
  void add(int relay, const plan::FileDomains& domains, int domain, const plan::FileAccess& access);
  /// The next round in which a rank has bytes; no_round if there is none.
  [[nodiscard]] std::int64_t next_round() const {
    return heap_.empty() ? no_round : heap_.front().first;
  }
  /// Replaces `share` by the bytes in `round`: none unless `round` is next_round().
  void take(std::int64_t round, RoundShare& share);

 private:
  struct ServedRank {
    int relay;
    plan::TiledMap view;
    plan::DomainWalk walk;
  };
  using Entry = std::pair<std::int64_t, std::size_t>;  // next round, index in ranks_

  std::vector<ServedRank> ranks_;
  std::vector<Entry> heap_;  // a heap, lowest round first
  std::vector<plan::RoundPiece> pieces_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_QUEUE_H_
