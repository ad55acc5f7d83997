// Grouping: which ranks share an aggregator, and so how many aggregators there are: the second and
// third step of Chaarawi & Gabriel, "Automatically selecting the number of aggregators for
// collective I/O operations" (IEEE Cluster 2011), for uneven amounts and blocks of any dimension.
#ifndef NACRE_PLAN_NODES_GROUPING_H_
#define NACRE_PLAN_NODES_GROUPING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/extent.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

/// What one rank brings: where its bytes lie, and how many they are.
struct RankLoad {
  Extent bounds;
  std::int64_t bytes = 0;
};

/// The order of the ranks and the groups before anyone has looked at amounts. By default as the
/// accesses lie: ranks in the order of their first bytes, in one group those whose ranges overlap.
/// A row of blocks of a 2-D array is such a group, a slab of them in more dimensions.
struct InitialGroups {
  enum class Source : std::uint8_t {
    accesses,
    grid,   ///< ranks in a grid, row by row; a row is a group
    lists,  ///< these groups; ranks in none of them are groups of their own
    each,   ///< every rank is a group
  };
  Source source = Source::accesses;
  std::vector<std::int32_t> grid;  ///< its lengths, the last dimension's ranks being neighbours
  std::vector<std::vector<std::int32_t>> lists;

  friend bool operator==(const InitialGroups&, const InitialGroups&) = default;
};

/// Amounts that a group is to have.
struct GroupTarget {
  std::int64_t saturation_bytes = 1;  ///< k: what keeps one aggregator busy; >= 1
  std::int32_t count = 0;      ///< exactly as many groups, if there are as many ranks; 0: by k
  std::int32_t count_max = 0;  ///< 0: as many as ranks

  friend bool operator==(const GroupTarget&, const GroupTarget&) = default;
};

/// How many aggregators `bytes` are to have where ranks bring them evenly. 1 at least.
[[nodiscard]] std::int64_t aggregators_for(std::int64_t bytes, std::int64_t saturation_bytes);

/// `loads` by rank, one at least. Groups above the saturation point are split into even parts, at
/// the widest gaps between first bytes that are near; neighbours below it are joined. A grid or
/// lists that do not fit the number of ranks are passed over. O(ranks x log ranks).
[[nodiscard]] RankGroups group_ranks(std::span<const RankLoad> loads, const InitialGroups& initial,
                                     const GroupTarget& target);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_GROUPING_H_
