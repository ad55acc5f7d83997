// The shares are those of the domains and aggregators of the plan.
#include "plan/decide/ost_shares.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "plan/domains/file_domains.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "plan/nodes/aggregators.h"
#include "plan/nodes/node_map.h"

namespace nacre::plan {
namespace {

/// What a plan with this division does with a file of whole rows.
struct Found {
  std::vector<std::int64_t> stripes;              // by aggregator
  std::map<int, std::int64_t> node_stripes = {};  // by node
  std::map<std::int64_t, std::set<int>> nodes_of_slot = {};
  std::int64_t all = 0;
};

Found find(const OstShares::Division& of, std::int64_t ranks_per_node) {
  const auto slots = static_cast<std::int32_t>(of.slots);
  const auto count = static_cast<std::int32_t>(of.aggregators);
  const StripeMap map =
      StripeMap::of(plain_layout({.stripe_size = 1, .stripe_count = slots}), slots).value();
  Found found{.stripes = std::vector<std::int64_t>(static_cast<std::size_t>(count))};
  found.all = of.slots * 840;
  const FileDomains domains = FileDomains::of_osts(
      {0, found.all}, map, {.slots_min = static_cast<std::int32_t>(of.slots_each_min)}, count, 1);
  std::vector<NodeMap::Run> runs;
  for (std::int64_t node = 0; node < of.nodes; ++node) {
    runs.push_back({static_cast<std::uint64_t>(node + 1), static_cast<int>(ranks_per_node)});
  }
  const NodeMap nodes = NodeMap::from_runs(runs);
  const auto sets =
      std::min(of.aggregators, (of.slots + of.slots_each_min - 1) / of.slots_each_min);
  const Aggregators aggregators =
      Aggregators::over_nodes(count, of.keeps_sets ? static_cast<int>(sets) : 0, nodes);
  for (std::int64_t stripe = 0; stripe < found.all; ++stripe) {
    const int domain = domains.place_of(stripe).domain;
    const int node = nodes.node_of(aggregators.rank_of(domain));
    ++found.stripes[static_cast<std::size_t>(domain)];
    ++found.node_stripes[node];
    found.nodes_of_slot[stripe % of.slots].insert(node);
  }
  return found;
}

}  // namespace

TEST_CASE("shares are those of the domains on the nodes of the aggregators") {
  std::mt19937 random(20261125);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto nearly = [](double value) { return doctest::Approx(value).epsilon(0.03); };
  for (int i = 0; i < 300; ++i) {
    OstShares::Division of{.slots = pick(1, 9), .slots_each_min = pick(1, 2), .nodes = pick(1, 6)};
    const std::int64_t per_node = pick(1, 4);
    of.aggregators = per_node * of.nodes;
    const std::int64_t sets = (of.slots + of.slots_each_min - 1) / of.slots_each_min;
    of.keeps_sets = of.aggregators % sets == 0 && sets % of.nodes == 0;
    CAPTURE(of.aggregators);
    CAPTURE(of.slots);
    CAPTURE(of.slots_each_min);
    CAPTURE(of.nodes);
    const Found found = find(of, per_node);
    const OstShares shares(of);
    const auto all = static_cast<double>(found.all);
    const auto most = static_cast<double>(std::ranges::max(found.stripes));
    CHECK(shares.of_fullest_aggregator() == nearly(most / all));
    std::int64_t most_of_node = 0;
    for (const auto& [node, stripes] : found.node_stripes) {
      most_of_node = std::max(most_of_node, stripes);
    }
    CHECK(shares.of_fullest_node() == nearly(static_cast<double>(most_of_node) / all));
    std::size_t most_nodes = 0;
    for (const auto& [slot, nodes] : found.nodes_of_slot) {
      most_nodes = std::max(most_nodes, nodes.size());
    }
    CHECK(shares.nodes_of_a_set() == static_cast<std::int64_t>(most_nodes));
  }
}

}  // namespace nacre::plan
