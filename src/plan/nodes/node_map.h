// NodeMap: which ranks share memory. A node is a set of ranks that share memory; a rank that shares
// memory with no other rank is a node of its own.
#ifndef NACRE_PLAN_NODES_NODE_MAP_H_
#define NACRE_PLAN_NODES_NODE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/nodes/progressions.h"

namespace nacre::plan {

/// The ranks 0..rank_count()-1 and their nodes, as runs of neighbouring ranks on one node. Every
/// rank holds it, so it is stored as arithmetic progressions: less than 200 bytes if all nodes have
/// equally many neighbouring ranks, about 12 bytes per node if ranks are dealt to nodes in turn, at
/// most 36 bytes per run. Nodes are numbered by their lowest ranks.
class NodeMap {
 public:
  /// No ranks.
  NodeMap() = default;
  /// `rank_count` nodes of one rank.
  [[nodiscard]] static NodeMap singles(int rank_count);

  /// Consecutive ranks on one node.
  struct Run {
    std::uint64_t domain = 0;  ///< equal exactly for ranks that share memory
    std::int64_t rank_count = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// `runs` cover all ranks, lowest first. A rank with domain 0 shares memory with no other rank,
  /// also not with other ranks of domain 0.
  [[nodiscard]] static NodeMap from_runs(std::span<const Run> runs);

  [[nodiscard]] int rank_count() const { return rank_count_; }
  [[nodiscard]] int node_count() const { return node_count_; }
  /// O(log runs).
  [[nodiscard]] int node_of(int rank) const;
  /// O(log runs).
  [[nodiscard]] int lowest_rank_on(int node) const;
  /// Lowest first. O(log runs) for each run of the node, and the ranks returned.
  [[nodiscard]] std::vector<int> ranks_on(int node) const;

  // Places: the ranks in the order of their nodes, and inside a node lowest first, are numbered
  // from 0. If the ranks of each node are neighbours, the place of a rank is the rank. O(log runs).
  [[nodiscard]] int rank_at(int place) const;
  [[nodiscard]] int place_of(int rank) const;
  /// For each node, the place after its last rank. O(nodes log runs).
  [[nodiscard]] std::vector<int> node_ends() const;

  /// As long as the map in memory.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` come from serialized().
  [[nodiscard]] static NodeMap deserialized(std::span<const std::byte> bytes);

  friend bool operator==(const NodeMap&, const NodeMap&) = default;

 private:
  [[nodiscard]] int run_of(int rank) const { return first_ranks_.count_up_to(rank) - 1; }
  /// The place after the last rank of the node.
  [[nodiscard]] int end_of(int node) const;
  void add(int rank_count, int node);
  [[nodiscard]] std::vector<std::int32_t> runs_in_order() const;
  void find_places();

  // Of each run, lowest first:
  Progressions first_ranks_;
  Progressions nodes_;
  Progressions places_;  // of their first ranks
  // The runs in the order of their nodes:
  Progressions runs_by_place_;
  Progressions places_in_order_;
  Progressions node_begins_;  // of each node, the index of its first run in that order
  std::int32_t rank_count_ = 0;
  std::int32_t node_count_ = 0;
};

/// Appends `runs` to `into`, and joins neighbouring runs of one node.
void append_runs(std::vector<NodeMap::Run>& into, std::span<const NodeMap::Run> runs);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_NODE_MAP_H_
