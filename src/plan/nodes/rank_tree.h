// RankTree: from which rank a rank receives, and to which ranks it sends, in agreements.
#ifndef NACRE_PLAN_NODES_RANK_TREE_H_
#define NACRE_PLAN_NODES_RANK_TREE_H_

#include <vector>

#include "plan/nodes/node_map.h"

namespace nacre::plan {

/// A rank's place in the tree whose root is rank 0: the lowest ranks of the nodes in a binomial
/// tree, and below each the ranks of its node, at most eight children per parent. A message crosses
/// from node to node O(log nodes) times.
struct RankTree {
  int parent = -1;            ///< -1 for the root
  std::vector<int> children;  ///< deepest subtrees first
};

[[nodiscard]] RankTree tree_of_nodes(const NodeMap& nodes, int rank);

/// The part of that tree on the rank's node, whose root is the lowest rank there.
[[nodiscard]] RankTree tree_on_node(const NodeMap& nodes, int rank);

/// The part of that tree above the nodes: the binomial tree of the lowest ranks of all nodes, of
/// which `rank` must be one.
[[nodiscard]] RankTree tree_over_nodes(const NodeMap& nodes, int rank);

/// The binomial tree over all ranks, regardless of nodes. If ranks are numbered from the root on,
/// the subtree of the child at distance d is the d ranks from that child on. The furthest child is
/// first.
[[nodiscard]] RankTree binomial_tree(int rank_count, int root, int rank);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_RANK_TREE_H_
