#include "plan/algorithms/algorithm_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked_cast.h"
#include "plan/domains/file_domains.h"

namespace nacre::plan {

std::span<const AlgorithmRow* const> algorithm_table() {
  static constexpr std::array rows{&direct_row, &two_phase_row, &dynamic_segmentation_row,
                                   &static_segmentation_row};
  return rows;
}

const AlgorithmRow& row_of(Algorithm algorithm) {
  return **std::ranges::find(algorithm_table(), algorithm, &AlgorithmRow::algorithm);
}

Aggregators aggregators_of(const CollectivePlan& plan, std::shared_ptr<const RankGroups> groups,
                           const NodeMap& nodes) {
  if (groups != nullptr) return Aggregators::of_groups(std::move(groups));
  return Aggregators::over_nodes(plan.aggregator_count, plan.aggregator_sets, nodes);
}

std::int32_t stripes_in_turn(const CollectivePlan& plan, const CollectiveSettings& settings) {
  const StripedRegion& region =
      settings.stripes->main_region({plan.origin, plan.end - plan.origin});
  const std::int64_t stripes = plan.block_bytes / region.stripe_size;
  return checked_cast<std::int32_t>(std::min<std::int64_t>(stripes, stripes_on_all_osts));
}

FileDomains domains_of(const CollectivePlan& plan, const CollectiveSettings& settings) {
  const Extent range{plan.origin, plan.end - plan.origin};
  const std::int32_t count = row_of(plan).needs_groups() ? 1 : plan.aggregator_count;
  switch (plan.pattern) {
    case DomainPattern::stripes:
      return FileDomains::of_stripes(range, *settings.stripes, stripes_in_turn(plan, settings),
                                     count, plan.cycle_bytes);
    case DomainPattern::osts:
      return FileDomains::of_osts(range, *settings.stripes,
                                  {settings.osts_per_aggregator, settings.sharing}, count,
                                  plan.cycle_bytes);
    case DomainPattern::automatic:
    case DomainPattern::even:
      break;
  }
  return FileDomains::of_blocks(range, plan.block_bytes, count, plan.cycle_bytes);
}

int domain_of(const CollectivePlan& plan, int aggregator) {
  return row_of(plan).needs_groups() ? 0 : aggregator;
}

}  // namespace nacre::plan
