// OstShares: how evenly aggregators and nodes share the bytes of a file if each aggregator has the
// stripes of some OSTs.
#ifndef NACRE_PLAN_DECIDE_OST_SHARES_H_
#define NACRE_PLAN_DECIDE_OST_SHARES_H_

#include <cstdint>

namespace nacre::plan {

/// Shares of a file that fills all rows of its stripes, as FileDomains::of_osts() divides it among
/// the domains and Aggregators::over_nodes() places them on nodes with equal numbers of ranks.
class OstShares {
 public:
  struct Division {
    std::int64_t aggregators = 1;
    std::int64_t slots = 1;           ///< stripes in a row of the file
    std::int64_t slots_each_min = 1;  ///< OstChoice::slots_min
    std::int64_t nodes = 1;
    bool keeps_sets = false;  ///< the aggregators that share slots are on one node
  };
  explicit OstShares(const Division& division);

  // Parts of all bytes. O(slots); of a node O(aggregators) if some sets of slots have more slots or
  // aggregators than others.
  [[nodiscard]] double of_fullest_aggregator() const;
  [[nodiscard]] double of_fullest_node() const;
  /// The most nodes whose aggregators share slots.
  [[nodiscard]] std::int64_t nodes_of_a_set() const;

 private:
  [[nodiscard]] std::int64_t set_of(std::int64_t aggregator) const;
  [[nodiscard]] std::int64_t first_of(std::int64_t set) const;
  [[nodiscard]] std::int64_t node_of(std::int64_t aggregator) const;
  [[nodiscard]] double share_of(std::int64_t aggregator) const;

  Division of_;
  std::int64_t sets_;  // of slots
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_OST_SHARES_H_
