// The table of the collective algorithms: one row each. To add one, add its name to
// call/algorithm.h, its file to this folder and its row to the table.
#ifndef NACRE_PLAN_ALGORITHMS_ALGORITHM_TABLE_H_
#define NACRE_PLAN_ALGORITHMS_ALGORITHM_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "plan/call/access_summary.h"
#include "plan/call/algorithm.h"
#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"
#include "plan/nodes/aggregators.h"
#include "plan/nodes/rank_groups.h"

namespace nacre::plan {

/// What aggregators share out among themselves.
enum class DomainsOf : std::uint8_t {
  none,    ///< no aggregators: each rank accesses the file itself
  file,    ///< each aggregator has a part of the file, for all ranks
  groups,  ///< each aggregator has a group of ranks, and all of the range for them
};

/// In which order bytes lie in a cycle buffer.
enum class RoundOrder : std::uint8_t {
  file,  ///< as in the file
  rank,  ///< each rank's bytes together, in the order of its own access (segment.h)
};

/// What an algorithm lays a plan out from.
struct PlanInputs {
  const AccessSummary& summary;
  const CollectiveSettings& settings;
  const Participants& participants;
  const RankGroups* groups = nullptr;  ///< null unless DomainsOf::groups
};

/// A row of the table. One file each in this folder.
struct AlgorithmRow {
  Algorithm algorithm;
  std::string_view name;  ///< as the hint nacre_algorithm and reports have it
  DomainsOf domains;
  RoundOrder order;
  /// Completes a plan whose algorithm and reason are set: aggregators, domains and rounds.
  void (*lay_out)(CollectivePlan& plan, const PlanInputs& inputs);

  /// Whether bytes pass through aggregators. Such a plan needs cycle buffers on all ranks,
  /// monotone views, and the file's size before a read.
  [[nodiscard]] bool exchanges() const { return domains != DomainsOf::none; }
  /// Whether a plan is complete only when the groups of ranks are known, which takes a few bytes
  /// from each rank.
  [[nodiscard]] bool needs_groups() const { return domains == DomainsOf::groups; }
};

extern const AlgorithmRow direct_row;
extern const AlgorithmRow two_phase_row;
extern const AlgorithmRow dynamic_segmentation_row;
extern const AlgorithmRow static_segmentation_row;

/// All rows, in the order of the enumeration.
[[nodiscard]] std::span<const AlgorithmRow* const> algorithm_table();
/// Not of Algorithm::automatic.
[[nodiscard]] const AlgorithmRow& row_of(Algorithm algorithm);
[[nodiscard]] inline const AlgorithmRow& row_of(const CollectivePlan& plan) {
  return row_of(plan.algorithm);
}

/// The aggregators of a plan that exchanges; `groups` are its groups, null if it has none. `nodes`
/// outlives the result.
[[nodiscard]] Aggregators aggregators_of(const CollectivePlan& plan,
                                         std::shared_ptr<const RankGroups> groups,
                                         const NodeMap& nodes);
/// The domains of a plan that exchanges, decided with these settings.
[[nodiscard]] FileDomains domains_of(const CollectivePlan& plan,
                                     const CollectiveSettings& settings);
/// Which of these domains is that of `aggregator`: with groups, each has the only one.
[[nodiscard]] int domain_of(const CollectivePlan& plan, int aggregator);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_ALGORITHM_TABLE_H_
