// DomainWalk: the bytes of one rank's access in one file domain, round by round. The rank and the
// aggregator walk the same access, so that both know every message of the exchange in advance.
#ifndef NACRE_PLAN_DOMAINS_DOMAIN_WALK_H_
#define NACRE_PLAN_DOMAINS_DOMAIN_WALK_H_

#include <cstdint>
#include <vector>

#include "plan/domains/file_domains.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

/// Data bytes [first_byte, first_byte + byte_count) of a view, in one contiguous part of a round.
/// The byte at `offset` of the file lies at offset - origin of the cycle buffer.
struct RoundPiece {
  std::int64_t first_byte = 0;
  std::int64_t byte_count = 0;
  std::int64_t origin = 0;
};

/// Visits only the rounds in which the access has bytes. Costs O(depth x log n) for each piece and
/// for each part of the domain without bytes of the access.
class DomainWalk {
 public:
  /// access.view.type.tiles_monotone(). The bytes of `access` lie in the range of `domains`, which
  /// outlives the walk.
  DomainWalk(const FileDomains& domains, int domain, const FileAccess& access);

  [[nodiscard]] bool done() const { return position_ == end_; }
  /// The next round in which the access has bytes. Not done().
  [[nodiscard]] std::int64_t round() const { return place_.round; }
  /// Replaces `pieces` by the pieces of round(), in stream order, and advances to the next round.
  /// Returns their bytes.
  std::int64_t take_round(std::vector<RoundPiece>& pieces);

 private:
  void find_place();

  const FileDomains* domains_;
  int domain_;
  TiledMap view_;
  std::int64_t position_;  // next data byte, in the domain unless done
  std::int64_t end_;
  DomainPlace place_;  // of position_
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DOMAINS_DOMAIN_WALK_H_
