// Aggregators: which ranks access the file in a collective access, and for which ranks.
#ifndef NACRE_PLAN_NODES_AGGREGATORS_H_
#define NACRE_PLAN_NODES_AGGREGATORS_H_

#include <memory>
#include <optional>
#include <vector>

#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

/// Aggregators are numbered from 0 on; each is another rank.
class Aggregators {
 public:
  /// `count` aggregators, each of which serves all ranks. Aggregators with neighbouring numbers
  /// form `sets` sets of equal size (0: each aggregator is a set). Sets are spread evenly over the
  /// nodes; each set lies on one node if the nodes have room for all sets that way. Rank 0 is the
  /// first aggregator unless its node has no room for a set. `nodes` outlives the result. O(sets +
  /// nodes) if a set has several aggregators.
  [[nodiscard]] static Aggregators over_nodes(int count, int sets, const NodeMap& nodes);
  /// The first member of each group serves its group.
  [[nodiscard]] static Aggregators of_groups(std::shared_ptr<const RankGroups> groups);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int rank_of(int aggregator) const;
  /// The number of the aggregator that `rank` is, if any.
  [[nodiscard]] std::optional<int> of_rank(int rank) const;
  [[nodiscard]] bool serves(int aggregator, int rank) const;
  /// Null if each aggregator serves all ranks.
  [[nodiscard]] const std::shared_ptr<const RankGroups>& groups() const { return groups_; }

 private:
  Aggregators(int count, int sets, const NodeMap* nodes, std::shared_ptr<const RankGroups> groups);
  [[nodiscard]] int set_size() const { return count_ / sets_; }
  [[nodiscard]] int first_place(int set) const;
  [[nodiscard]] int set_at(int place) const;
  void keep_sets_on_nodes();

  int count_;
  int sets_;
  const NodeMap* nodes_;           // null with groups
  std::vector<int> first_places_;  // by set, if sets are kept on nodes
  std::shared_ptr<const RankGroups> groups_;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_AGGREGATORS_H_
