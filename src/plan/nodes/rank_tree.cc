#include "plan/nodes/rank_tree.h"

#include <algorithm>

namespace nacre::plan {
namespace {

// Of a rank on its node: few enough for short waits, and on nodes of up to 9 ranks the tree has one
// level.
constexpr int children_on_node = 8;

}  // namespace

RankTree binomial_tree(int rank_count, int root, int rank) {
  const int me = (rank - root + rank_count) % rank_count;
  const auto rank_of = [&](int number) { return (number + root) % rank_count; };
  RankTree tree;
  if (me != 0) tree.parent = rank_of(me & (me - 1));
  for (int distance = 1; distance < rank_count - me; distance *= 2) {
    if ((me & distance) != 0) break;
    tree.children.push_back(rank_of(me + distance));
  }
  std::reverse(tree.children.begin(), tree.children.end());
  return tree;
}

RankTree tree_on_node(const NodeMap& nodes, int rank) {
  const std::vector<int> node_ranks = nodes.ranks_on(nodes.node_of(rank));
  const auto place =
      std::lower_bound(node_ranks.begin(), node_ranks.end(), rank) - node_ranks.begin();
  RankTree tree;
  if (place > 0) tree.parent = node_ranks[static_cast<std::size_t>((place - 1) / children_on_node)];
  const auto first = static_cast<std::size_t>(place * children_on_node + 1);
  for (std::size_t i = first; i < std::min(first + children_on_node, node_ranks.size()); ++i) {
    tree.children.push_back(node_ranks[i]);
  }
  return tree;
}

RankTree tree_over_nodes(const NodeMap& nodes, int rank) {
  RankTree tree = binomial_tree(nodes.node_count(), 0, nodes.node_of(rank));
  if (tree.parent >= 0) tree.parent = nodes.lowest_rank_on(tree.parent);
  for (int& child : tree.children) child = nodes.lowest_rank_on(child);
  return tree;
}

RankTree tree_of_nodes(const NodeMap& nodes, int rank) {
  RankTree on_node = tree_on_node(nodes, rank);
  if (on_node.parent >= 0) return on_node;
  RankTree tree = tree_over_nodes(nodes, rank);
  tree.children.insert(tree.children.end(), on_node.children.begin(), on_node.children.end());
  return tree;
}

}  // namespace nacre::plan
