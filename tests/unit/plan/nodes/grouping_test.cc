// The second and third step of the paper: groups by the positions of accesses, split above the
// saturation point and joined below it.
#include "plan/nodes/grouping.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

using Loads = std::vector<RankLoad>;

std::int64_t pick(std::mt19937& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

/// Blocks of an array of bytes whose last dimension varies fastest, ranks in the order of the grid.
Loads blocks(const std::vector<std::int64_t>& grid, std::int64_t edge) {
  Loads loads{{{0, 1}, 1}};
  std::int64_t stride = 1;
  for (std::size_t dimension = grid.size(); dimension-- > 0;) {
    Loads next;
    const std::int64_t along = stride * edge;  // distance of adjacent blocks
    for (std::int64_t i = 0; i < grid[dimension]; ++i) {
      for (const RankLoad& load : loads) {
        const std::int64_t length = load.bounds.length + (edge - 1) * stride;
        next.push_back({{load.bounds.offset + i * along, length}, load.bytes * edge});
      }
    }
    loads = next;
    stride = along * grid[dimension];
  }
  return loads;
}

std::vector<std::vector<std::int32_t>> members(const RankGroups& groups) {
  std::vector<std::vector<std::int32_t>> all;
  for (int group = 0; group < groups.count(); ++group) {
    std::vector<std::int32_t>& ranks = all.emplace_back();
    for (int place = 0; place < groups.size_of(group); ++place) {
      ranks.push_back(groups.rank_at(group, place));
    }
  }
  return all;
}

std::vector<std::int64_t> amounts(const RankGroups& groups, const Loads& loads) {
  std::vector<std::int64_t> all;
  for (const auto& group : members(groups)) {
    all.push_back(0);
    for (const std::int32_t rank : group) all.back() += loads[static_cast<std::size_t>(rank)].bytes;
  }
  return all;
}

InitialGroups grid_of(std::vector<std::int32_t> lengths) {
  return {InitialGroups::Source::grid, std::move(lengths), {}};
}

using Groups = std::vector<std::vector<std::int32_t>>;

}  // namespace

TEST_CASE("the paper's figure 3: 16 processes in 4 rows") {
  const Loads loads = blocks({4, 4}, 10);  // 100 bytes per process, 400 per row
  CHECK(members(group_ranks(loads, {}, {400})) ==
        Groups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});
  CHECK(members(group_ranks(loads, {}, {200})) ==
        Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}});
  CHECK(members(group_ranks(loads, {}, {800})) ==
        Groups{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}});
  CHECK(group_ranks(loads, {}, {1}).count() == 16);
  CHECK(group_ranks(loads, {}, {1'600}).count() == 1);
  CHECK(group_ranks(loads, {}, {1'000'000}).count() == 1);
}

TEST_CASE("a grid of the program is used if the accesses show none") {
  const Loads loads(16, RankLoad{{0, 1'600}, 100});
  CHECK(members(group_ranks(loads, grid_of({4, 4}), {400})) ==
        Groups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});
  CHECK(group_ranks(loads, grid_of({2, 2, 4}), {800}).count() == 2);
  // Without the grid, rank 0 would be a group by itself: it has half of the bytes.
  Loads uneven(4, RankLoad{{0, 600}, 100});
  uneven[0].bytes = 300;
  CHECK(members(group_ranks(uneven, grid_of({2, 2}), {400})) == Groups{{0, 1}, {2, 3}});
  CHECK(members(group_ranks(uneven, {}, {400})) == Groups{{0}, {1, 2, 3}});
  // A grid that does not fit is ignored: all accesses overlap and are split evenly.
  CHECK(group_ranks(loads, grid_of({3, 5}), {800}).count() == 2);
}

TEST_CASE("ranks numbered by columns are grouped by the positions of their bytes") {
  Loads loads = blocks({4, 4}, 10);
  Loads turned(16);
  for (std::size_t rank = 0; rank < 16; ++rank) turned[rank] = loads[rank % 4 * 4 + rank / 4];
  CHECK(members(group_ranks(turned, {}, {400})) ==
        Groups{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}});
}

TEST_CASE("slabs of three dimensions, split into their rows") {
  const Loads loads = blocks({2, 3, 4}, 4);  // 64 bytes per process, 256 per row, 768 per slab
  CHECK(group_ranks(loads, {}, {768}).count() == 2);
  const RankGroups rows = group_ranks(loads, {}, {256});
  REQUIRE(rows.count() == 6);
  for (int group = 0; group < 6; ++group) {
    std::vector<std::int32_t> row;
    for (std::int32_t i = 0; i < 4; ++i) row.push_back(group * 4 + i);
    CHECK(members(rows)[static_cast<std::size_t>(group)] == row);
  }
  CHECK(group_ranks(blocks({2, 2, 2, 3}, 3), {}, {3 * 81}).count() == 8);
}

TEST_CASE("lists: ranks not listed form their own groups, unknown ranks are ignored") {
  const Loads loads(6, RankLoad{{0, 600}, 100});
  const InitialGroups lists{InitialGroups::Source::lists, {}, {{5, 1}, {9}, {0, 5}}};
  const Groups found = members(group_ranks(loads, lists, {100}));
  CHECK(found == Groups{{5}, {1}, {0}, {2}, {3}, {4}});
  CHECK(members(group_ranks(loads, lists, {200})).front() == std::vector<std::int32_t>{5, 1});
}

TEST_CASE("the number of groups is at most the maximum") {
  for (std::int32_t ranks = 1; ranks <= 40; ++ranks) {
    const Loads loads(static_cast<std::size_t>(ranks), RankLoad{{0, 100}, 100});
    for (std::int32_t most = 1; most <= 10; ++most) {
      const InitialGroups each{InitialGroups::Source::each, {}, {}};
      CHECK(group_ranks(loads, each, {1, 0, most}).count() <= most);
      CHECK(group_ranks(loads, {}, {1, 0, most}).count() <= most);
    }
  }
}

TEST_CASE("a requested number of groups is exact") {
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 300; ++repeat) {
    Loads loads(static_cast<std::size_t>(pick(random, 1, 30)));
    for (RankLoad& load : loads) {
      load = {{pick(random, 0, 999), pick(random, 1, 50)}, pick(random, 0, 99)};
    }
    const auto wanted = static_cast<std::int32_t>(pick(random, 1, 40));
    const int expected = std::min<int>(wanted, static_cast<int>(loads.size()));
    CHECK(group_ranks(loads, {}, {1, wanted}).count() == expected);
  }
}

TEST_CASE("uneven amounts: no group is far larger than the others, unless one rank is") {
  const std::uint32_t seed = 77;
  MESSAGE("seed ", seed);
  std::mt19937 random(seed);
  for (int repeat = 0; repeat < 500; ++repeat) {
    CAPTURE(repeat);
    Loads loads(static_cast<std::size_t>(pick(random, 2, 61)));
    std::int64_t offset = 0;
    std::int64_t largest = 0;
    for (RankLoad& load : loads) {
      const bool has_data = pick(random, 0, 3) != 0;
      const std::int64_t bytes = has_data ? pick(random, 1, 1'000) : 0;
      load = {{has_data ? offset : 0, bytes}, bytes};
      largest = std::max(largest, bytes);
      if (pick(random, 0, 2) == 0) offset += bytes;  // otherwise it overlaps the next
    }
    const std::int64_t saturation = pick(random, 500, 4'500);
    const RankGroups groups = group_ranks(loads, {}, {saturation});
    std::vector<bool> seen(loads.size());
    for (const auto& group : members(groups)) {
      CHECK_FALSE(group.empty());
      for (const std::int32_t rank : group) {
        CHECK_FALSE(seen[static_cast<std::size_t>(rank)]);
        seen[static_cast<std::size_t>(rank)] = true;
      }
    }
    CHECK(std::ranges::count(seen, false) == 0);
    const std::vector<std::int64_t> sizes = amounts(groups, loads);
    std::int64_t total = 0;
    for (const std::int64_t bytes : sizes) total += bytes;
    for (const std::int64_t bytes : sizes) CHECK(bytes <= 2 * saturation + largest);
    // Neighbours that fit in one group are in one group.
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      CHECK(sizes[i - 1] + sizes[i] > saturation / 2);
    }
    CHECK(groups.count() >= total / (2 * saturation + largest));
    const RankGroups few = group_ranks(loads, {}, {1, 0, 3});
    CHECK(few.count() <= 6);
  }
}

TEST_CASE("without data: one group, or the requested number") {
  const Loads loads(7);
  CHECK(group_ranks(loads, {}, {100}).count() == 1);
  CHECK(group_ranks(loads, {}, {100, 3}).count() == 3);
}

TEST_CASE("aggregators are spread over the nodes, also if ranks are dealt to them in turn") {
  const auto nodes_of = [](int ranks, int nodes, bool in_turn) {
    std::vector<NodeMap::Run> runs;
    for (int rank = 0; rank < ranks; ++rank) {
      const int node = in_turn ? rank % nodes : rank * nodes / ranks;
      runs.push_back({static_cast<std::uint64_t>(node + 1), 1});
    }
    return NodeMap::from_runs(runs);
  };
  const auto most_on_a_node = [](const NodeMap& nodes, const RankGroups& groups) {
    std::vector<int> counts(static_cast<std::size_t>(nodes.node_count()));
    for (int group = 0; group < groups.count(); ++group) {
      ++counts[static_cast<std::size_t>(nodes.node_of(groups.rank_at(group, 0)))];
    }
    return *std::ranges::max_element(counts);
  };
  for (const int count : {2, 4, 8, 16}) {
    CAPTURE(count);
    const RankGroups groups = group_ranks(blocks({16}, 4), {}, {1, count});
    REQUIRE(groups.count() == count);
    const NodeMap neighbours = nodes_of(16, 8, false);
    CHECK(spread_over(neighbours, groups) == groups);
    const NodeMap in_turn = nodes_of(16, 8, true);
    const RankGroups spread = spread_over(in_turn, groups);
    CHECK(most_on_a_node(in_turn, spread) == (count == 16 ? 2 : 1));
    for (int group = 0; group < count; ++group) {
      CHECK(spread.size_of(group) == groups.size_of(group));
    }
    for (int rank = 0; rank < 16; ++rank) CHECK(spread.group_of(rank) == groups.group_of(rank));
  }
}

}  // namespace nacre::plan
