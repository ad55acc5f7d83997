// Aggregators: which ranks access the file for others in a collective access, and for whom.
#ifndef NACRE_PLAN_NODES_AGGREGATORS_H_
#define NACRE_PLAN_NODES_AGGREGATORS_H_

#include <memory>
#include <optional>
#include <vector>

#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

/// Aggregators are numbered; none is two.
class Aggregators {
 public:
  /// `count` of the ranks: each serves all ranks. As many neighbours by number make up each of
  /// `sets` sets, which divide the count (0: each is one). Sets are spread evenly over the nodes,
  /// each on one node where there is room for all of them so. Rank 0 is the first unless its node
  /// has no room for a set. `nodes` outlives it. O(sets + nodes) where sets are of several.
  [[nodiscard]] static Aggregators over_nodes(int count, int sets, const NodeMap& nodes);
  /// The first member of each group, which it serves alone.
  [[nodiscard]] static Aggregators of_groups(std::shared_ptr<const RankGroups> groups);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int rank_of(int aggregator) const;
  /// Which aggregator `rank` is, if it is one.
  [[nodiscard]] std::optional<int> of_rank(int rank) const;
  [[nodiscard]] bool serves(int aggregator, int rank) const;
  /// Null where each serves all.
  [[nodiscard]] const std::shared_ptr<const RankGroups>& groups() const { return groups_; }

 private:
  Aggregators(int count, int sets, const NodeMap* nodes, std::shared_ptr<const RankGroups> groups);
  [[nodiscard]] int set_size() const { return count_ / sets_; }
  [[nodiscard]] int first_place(int set) const;
  [[nodiscard]] int set_at(int place) const;
  void keep_sets_on_nodes();

  int count_;
  int sets_;
  const NodeMap* nodes_;           // spread
  std::vector<int> first_places_;  // by set, where each is on one node and of several
  std::shared_ptr<const RankGroups> groups_;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_AGGREGATORS_H_
