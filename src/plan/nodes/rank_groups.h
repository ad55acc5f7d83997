// RankGroups: ranks in groups that have an aggregator each, as dynamic and static segmentation have
// them (Chaarawi & Gabriel, IEEE Cluster 2011).
#ifndef NACRE_PLAN_NODES_RANK_GROUPS_H_
#define NACRE_PLAN_NODES_RANK_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nacre::plan {

/// All ranks, each in one group. Groups stand one after the other in an order of the ranks. Memory:
/// 12 bytes a rank.
class RankGroups {
 public:
  /// No ranks.
  RankGroups() = default;
  /// `order` holds each of 0..order.size()-1 once; group g is order[begins[g], begins[g + 1]), the
  /// last one up to the end. begins[0] == 0, and they grow.
  RankGroups(std::vector<std::int32_t> order, std::span<const std::int32_t> begins);

  [[nodiscard]] int rank_count() const { return static_cast<int>(order_.size()); }
  [[nodiscard]] int count() const { return static_cast<int>(begins_.size()) - 1; }
  [[nodiscard]] int group_of(int rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::span<const std::int32_t> members(int group) const;
  /// Where `rank` stands among the members of its group.
  [[nodiscard]] int place_of(int rank) const;
  [[nodiscard]] int size_max() const;

  /// What neighbours in the order have in common is told once: a few bytes where ranks are grouped
  /// regularly, 12 a rank at most.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` are what serialized() gave.
  [[nodiscard]] static RankGroups deserialized(std::span<const std::byte> bytes);

  friend bool operator==(const RankGroups&, const RankGroups&) = default;

 private:
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> begins_{0};  // and the end of the last
  std::vector<std::int32_t> place_;      // of each rank in the order
  std::vector<std::int32_t> group_of_;   // by rank
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_RANK_GROUPS_H_
