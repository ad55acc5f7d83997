// RankGroups: the groups of ranks of dynamic and static segmentation, each with one aggregator
// (Chaarawi & Gabriel, IEEE Cluster 2011).
#ifndef NACRE_PLAN_NODES_RANK_GROUPS_H_
#define NACRE_PLAN_NODES_RANK_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/nodes/progressions.h"

namespace nacre::plan {

/// An order of all ranks, cut into groups. Every rank holds it, so it is stored as arithmetic
/// progressions: less than 100 bytes if the groups consist of successive ranks, 12 bytes for each
/// row and each column if they are the columns of a grid, at most 18 bytes per rank.
class RankGroups {
 public:
  /// No ranks.
  RankGroups() = default;
  /// `order` holds each of 0..order.size()-1 once. Group g is order[begins[g], begins[g + 1]); the
  /// last group ends with the order. begins[0] == 0, and `begins` ascends. Takes the time and
  /// memory of a number per rank.
  RankGroups(std::span<const std::int32_t> order, std::span<const std::int32_t> begins);

  [[nodiscard]] int rank_count() const { return order_.size(); }
  [[nodiscard]] int count() const { return begins_.size(); }
  [[nodiscard]] int group_of(int rank) const { return begins_.count_up_to(places_.at(rank)) - 1; }
  [[nodiscard]] int size_of(int group) const;
  [[nodiscard]] int size_max() const;
  /// The ranks of a group have the places 0..size_of(group)-1.
  [[nodiscard]] int rank_at(int group, int place) const;
  /// The place of `rank` in its group.
  [[nodiscard]] int place_of(int rank) const;

  /// As long as the groups in memory.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` come from serialized().
  [[nodiscard]] static RankGroups deserialized(std::span<const std::byte> bytes);

  friend bool operator==(const RankGroups&, const RankGroups&) = default;

 private:
  Progressions order_;   // ranks
  Progressions places_;  // of each rank in the order
  Progressions begins_;  // of each group in the order
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_RANK_GROUPS_H_
