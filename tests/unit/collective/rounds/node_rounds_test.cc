// The aggregators whose rounds each rank of a node drives.
#include "collective/rounds/node_rounds.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "plan/algorithms/algorithm_table.h"
#include "plan/nodes/aggregators.h"
#include "plan/nodes/rank_groups.h"
#include "testing/in_process.h"

namespace nacre::collective {
namespace {

constexpr int ranks_a_node = 4;
constexpr int group_count = 16;
constexpr int rank_count = group_count + ranks_a_node;  // the last node has no aggregator

/// Rank g leads group g. The ranks of the last node are members of `groups`.
std::shared_ptr<const plan::RankGroups> groups_with(const std::vector<int>& groups) {
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> begins;
  for (int group = 0; group < group_count; ++group) {
    begins.push_back(static_cast<std::int32_t>(order.size()));
    order.push_back(group);
    for (int place = 0; place < ranks_a_node; ++place) {
      if (groups[static_cast<std::size_t>(place)] == group) order.push_back(group_count + place);
    }
  }
  return std::make_shared<const plan::RankGroups>(order, begins);
}

/// The ranks of the last node that drive the rounds of these groups.
std::vector<int> drivers_of(const std::vector<int>& groups) {
  testing::InProcessNetwork network({rank_count, testing::SendMode::mixed, 3, ranks_a_node});
  plan::CollectivePlan plan;
  plan.algorithm = plan::Algorithm::dynamic_segmentation;
  plan.aggregator_count = group_count;
  plan.end = 1 << 20;
  plan.block_bytes = plan.cycle_bytes = 64 << 10;
  plan.cycle_buffer_count = 2;
  const plan::Aggregators aggregators = plan::Aggregators::of_groups(groups_with(groups));
  const plan::FileDomains domains = plan::domains_of(plan, {});
  const ExchangePlan exchange{plan, aggregators, domains};
  std::vector<NodeRounds> rounds(rank_count);
  const auto begun = testing::run_polled<Status>(
      network,
      [&](int rank) {
        return rounds[static_cast<std::size_t>(rank)].begin_call(network.transport(rank), exchange,
                                                                 false);
      },
      7);
  REQUIRE(begun.has_value());
  for (const Status& one : *begun) REQUIRE(one.ok());
  const std::span<const int> drivers = rounds.back().drivers();
  return {drivers.begin(), drivers.end()};
}

}  // namespace

TEST_CASE("the ranks of a node divide the aggregators of other nodes among themselves") {
  // reserve_rooms() reserves memory for as many rounds, before a later call has other groups.
  const std::vector<int> all{16, 17, 18, 19};
  CHECK(drivers_of({0, 1, 2, 3}) == all);
  CHECK(drivers_of({0, 4, 8, 12}) == all);
}

}  // namespace nacre::collective
