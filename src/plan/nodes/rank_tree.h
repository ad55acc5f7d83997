// RankTree: by whom a rank hears, and whom it tells, in agreements of all ranks.
#ifndef NACRE_PLAN_NODES_RANK_TREE_H_
#define NACRE_PLAN_NODES_RANK_TREE_H_

#include <vector>

#include "plan/nodes/node_map.h"

namespace nacre::plan {

/// A rank's place in the tree whose root is rank 0: the lowest ranks of the nodes in a binomial
/// tree, and below each the ranks of its node, eight to a parent. So a message crosses from node to
/// node O(log nodes) times.
struct RankTree {
  int parent = -1;            ///< -1: this is the root
  std::vector<int> children;  ///< those with the deepest subtrees first
};

[[nodiscard]] RankTree tree_of_nodes(const NodeMap& nodes, int rank);

/// The binomial tree over all ranks, nodes or not. Numbered from the root on, the child at distance
/// d holds the d ranks from itself on, so a subtree is a range of ranks; the furthest child comes
/// first.
[[nodiscard]] RankTree binomial_tree(int rank_count, int root, int rank);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_RANK_TREE_H_
