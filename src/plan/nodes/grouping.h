// Grouping: which ranks share an aggregator, and thus how many aggregators there are: the second
// and third step of Chaarawi & Gabriel, "Automatically selecting the number of aggregators for
// collective I/O operations" (IEEE Cluster 2011), for uneven amounts and blocks of any dimension.
#ifndef NACRE_PLAN_NODES_GROUPING_H_
#define NACRE_PLAN_NODES_GROUPING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/extent.h"
#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

/// The access of one rank.
struct RankLoad {
  Extent bounds;
  std::int64_t bytes = 0;
};

/// The order of the ranks, and their groups before amounts of bytes are considered. By default
/// ranks are in the order of their first bytes, and ranks whose ranges overlap form a group: a row
/// of blocks of a 2-D array, a slab of blocks in more dimensions.
struct InitialGroups {
  enum class Source : std::uint8_t {
    accesses,
    grid,   ///< ranks in a grid, row by row; a row is a group
    lists,  ///< these groups; every other rank is a group
    each,   ///< every rank is a group
  };
  Source source = Source::accesses;
  std::vector<std::int32_t> grid;  ///< lengths; ranks of the last dimension are neighbours
  std::vector<std::vector<std::int32_t>> lists;

  friend bool operator==(const InitialGroups&, const InitialGroups&) = default;
};

/// The wanted size and number of groups.
struct GroupTarget {
  std::int64_t saturation_bytes = 1;  ///< bytes that saturate one aggregator; >= 1
  std::int32_t count = 0;             ///< exactly, if there are as many ranks; 0: by saturation
  std::int32_t count_max = 0;         ///< 0: as many as ranks

  friend bool operator==(const GroupTarget&, const GroupTarget&) = default;
};

/// The number of aggregators, at least 1, that `bytes` saturate if ranks have equal amounts.
[[nodiscard]] std::int64_t aggregators_for(std::int64_t bytes, std::int64_t saturation_bytes);

/// `loads` has one element per rank, at least one. A group above the saturation point is split into
/// even parts, at the widest gaps between first bytes near each even cut; neighbours below it are
/// joined. A grid that does not fit the number of ranks is ignored. O(ranks x log ranks).
[[nodiscard]] RankGroups group_ranks(std::span<const RankLoad> loads, const InitialGroups& initial,
                                     const GroupTarget& target);

/// The same groups with another first rank, which is the aggregator: of each group in turn, the
/// first rank on a node that has the fewest aggregators so far. If a launcher deals ranks to nodes
/// in turn, the aggregators of equal groups of neighbours would otherwise be on few nodes.
/// O(ranks x log ranks), and O(groups) if successive ranks are on one node.
[[nodiscard]] RankGroups spread_over(const NodeMap& nodes, const RankGroups& groups);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_GROUPING_H_
