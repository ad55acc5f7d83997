// RankGroups: the groups of ranks of dynamic and static segmentation, each with one aggregator
// (Chaarawi & Gabriel, IEEE Cluster 2011).
#ifndef NACRE_PLAN_NODES_RANK_GROUPS_H_
#define NACRE_PLAN_NODES_RANK_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nacre::plan {

/// An order of all ranks, cut into groups. Memory: 12 bytes per rank.
class RankGroups {
 public:
  /// No ranks.
  RankGroups() = default;
  /// `order` holds each of 0..order.size()-1 once. Group g is order[begins[g], begins[g + 1]); the
  /// last group ends with the order. begins[0] == 0, and `begins` ascends.
  RankGroups(std::vector<std::int32_t> order, std::span<const std::int32_t> begins);

  [[nodiscard]] int rank_count() const { return static_cast<int>(order_.size()); }
  [[nodiscard]] int count() const { return static_cast<int>(begins_.size()) - 1; }
  [[nodiscard]] int group_of(int rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::span<const std::int32_t> members(int group) const;
  /// The index of `rank` among the members of its group.
  [[nodiscard]] int place_of(int rank) const;
  [[nodiscard]] int size_max() const;

  /// Arithmetic progressions of ranks are compressed: a few bytes if ranks are grouped regularly,
  /// at most 12 bytes per rank.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` come from serialized().
  [[nodiscard]] static RankGroups deserialized(std::span<const std::byte> bytes);

  friend bool operator==(const RankGroups&, const RankGroups&) = default;

 private:
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> begins_{0};  // of each group, then the end of the last
  std::vector<std::int32_t> place_;      // of each rank in the order
  std::vector<std::int32_t> group_of_;   // by rank
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_NODES_RANK_GROUPS_H_
