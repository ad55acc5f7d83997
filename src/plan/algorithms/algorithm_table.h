// The table of the collective algorithms: one row each. CONTRIBUTING.md lists the steps that add
// one.
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

/// What is divided among the aggregators.
enum class DomainsOf : std::uint8_t {
  none,    ///< nothing: each rank accesses the file by itself
  file,    ///< the file: each aggregator serves all ranks in its part
  groups,  ///< the ranks: each aggregator serves its group in the whole range
};

/// The order of bytes in a cycle buffer.
enum class RoundOrder : std::uint8_t {
  file,  ///< as in the file
  rank,  ///< rank by rank, in the order of each access (segment.h)
};

/// The domains of a plan on a striped file, unless a hint sets the pattern.
struct DomainChoice {
  DomainPattern pattern = DomainPattern::automatic;  ///< automatic: by the rules
  std::int32_t stripes = 0;  ///< of a block of DomainPattern::stripes, else 0
};

/// The input of a decision and of AlgorithmRow::lay_out.
struct PlanInputs {
  const AccessSummary& summary;
  const CollectiveSettings& settings;
  const Participants& participants;
  const RankGroups* groups = nullptr;  ///< null unless DomainsOf::groups
  std::int64_t aggregator_count = 0;   ///< to lay out with; 0: as many as the bytes saturate
  DomainChoice domains = {};           ///< to lay out with
};

/// A row of the table, in a file of its own.
struct AlgorithmRow {
  Algorithm algorithm;
  std::string_view name;  ///< in the hint nacre_algorithm and in reports
  DomainsOf domains;
  RoundOrder order;
  /// Completes a plan whose algorithm and reason are set: aggregators, domains and rounds.
  void (*lay_out)(CollectivePlan& plan, const PlanInputs& inputs);

  /// Whether bytes pass through aggregators. Such a plan needs cycle buffers on all ranks,
  /// monotone views, and the file's size before a read.
  [[nodiscard]] bool exchanges() const { return domains != DomainsOf::none; }
  /// Whether lay_out needs the groups of ranks, which are made from a few bytes of each rank.
  [[nodiscard]] bool needs_groups() const { return domains == DomainsOf::groups; }
};

// In the order of the enumeration.
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

/// The aggregators of a plan that exchanges. `groups` is null if the plan has none. `nodes`
/// outlives the result.
[[nodiscard]] Aggregators aggregators_of(const CollectivePlan& plan,
                                         std::shared_ptr<const RankGroups> groups,
                                         const NodeMap& nodes);
/// The stripes of a block of a plan with DomainPattern::stripes.
[[nodiscard]] std::int32_t stripes_in_turn(const CollectivePlan& plan,
                                           const CollectiveSettings& settings);
/// The domains of a plan that exchanges and was decided with `settings`.
[[nodiscard]] FileDomains domains_of(const CollectivePlan& plan,
                                     const CollectiveSettings& settings);
/// The domain of `aggregator`. With groups, all aggregators have the only domain.
[[nodiscard]] int domain_of(const CollectivePlan& plan, int aggregator);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_ALGORITHM_TABLE_H_
