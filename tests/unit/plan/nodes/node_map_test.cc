// The map of ranks to nodes, in any order of ranks, and the tree over the nodes.
#include "plan/nodes/node_map.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "plan/nodes/rank_tree.h"

namespace nacre::plan {
namespace {

NodeMap map_of(const std::vector<std::uint64_t>& domains) {
  std::vector<NodeMap::Run> runs;
  for (const std::uint64_t domain : domains) {
    const NodeMap::Run run{domain, 1};
    append_runs(runs, {&run, 1});
  }
  return NodeMap::from_runs(runs);
}

}  // namespace

TEST_CASE("nodes are numbered by their lowest ranks") {
  const NodeMap map = map_of({7, 7, 3, 7, 3, 0, 0, 9});
  CHECK(map.rank_count() == 8);
  CHECK(map.node_count() == 5);
  CHECK(map.ranks_on(0) == std::vector<int>{0, 1, 3});
  CHECK(map.ranks_on(1) == std::vector<int>{2, 4});
  CHECK(map.ranks_on(2) == std::vector<int>{5});
  CHECK(map.ranks_on(3) == std::vector<int>{6});
  CHECK(map.lowest_rank_on(4) == 7);
  const std::vector<int> nodes{0, 0, 1, 0, 1, 2, 3, 4};
  for (int rank = 0; rank < 8; ++rank) CHECK(map.node_of(rank) == nodes[std::size_t(rank)]);
  CHECK(NodeMap::deserialized(map.serialized()) == map);
}

TEST_CASE("consecutive ranks on one node are one run") {
  std::vector<NodeMap::Run> runs;
  append_runs(runs, std::vector<NodeMap::Run>{{4, 100}, {4, 28}, {5, 128}});
  CHECK(runs == std::vector<NodeMap::Run>{{4, 128}, {5, 128}});
}

// Each rank holds the map.
TEST_CASE("the map of regular nodes takes as much memory for a million ranks as for few") {
  constexpr int nodes = 15'625;
  constexpr int per_node = 64;
  CHECK(NodeMap::singles(nodes * per_node).serialized().size() < 200);
  std::vector<NodeMap::Run> blocks;
  std::vector<NodeMap::Run> in_turn;
  for (std::uint64_t node = 1; node <= nodes; ++node) blocks.push_back({node, per_node});
  for (std::uint64_t rank = 0; rank < nodes * per_node; ++rank) {
    in_turn.push_back({1 + rank % nodes, 1});
  }
  CHECK(NodeMap::from_runs(blocks).serialized().size() < 200);
  CHECK(NodeMap::from_runs(in_turn).serialized().size() < 13 * nodes);
}

TEST_CASE("the map of irregular nodes takes 36 bytes for each run at most") {
  constexpr std::size_t nodes = 5'000;
  std::mt19937 random(1);
  std::vector<NodeMap::Run> runs;
  for (std::size_t i = 0; i < nodes; ++i)
    runs.push_back({1 + i, static_cast<std::int64_t>(1 + random() % 100)});
  std::ranges::shuffle(runs, random);
  CHECK(NodeMap::from_runs(runs).serialized().size() < 36 * nodes + 200);
  for (NodeMap::Run& run : runs) run.domain = 1 + random() % (nodes / 4);
  CHECK(NodeMap::from_runs(runs).serialized().size() < 36 * nodes + 200);
}

TEST_CASE("ranks that share memory with no rank are nodes of one rank") {
  CHECK(NodeMap::singles(3) == map_of({0, 0, 0}));
  CHECK(NodeMap::singles(3) == map_of({1, 2, 3}));
}

TEST_CASE("every rank has a position in the order of nodes") {
  for (const int ranks : {1, 2, 7, 33}) {
    for (const int nodes : {1, 2, 5}) {
      for (const bool scattered : {false, true}) {
        std::vector<std::uint64_t> domains;
        for (int rank = 0; rank < ranks; ++rank) {
          domains.push_back(static_cast<std::uint64_t>(
              1 + (scattered ? rank * 7 % 11 % nodes : rank * nodes / ranks)));
        }
        const NodeMap map = map_of(domains);
        const NodeMap again = NodeMap::deserialized(map.serialized());
        for (int place = 0; place < ranks; ++place) {
          const int rank = map.rank_at(place);
          CHECK(map.place_of(rank) == place);
          CHECK(again.rank_at(place) == rank);
          if (!scattered) CHECK(rank == place);
          if (place == 0) continue;
          const int before = map.rank_at(place - 1);
          const bool follows = map.node_of(before) == map.node_of(rank)
                                   ? before < rank
                                   : map.node_of(before) < map.node_of(rank);
          CHECK(follows);
        }
      }
    }
  }
}

TEST_CASE("every rank except 0 has one parent, and every parent has few children") {
  for (const int ranks : {1, 2, 7, 8, 9, 10, 33, 300}) {
    for (const int per_node : {1, 3, 8, 100, 300}) {
      for (const bool scattered : {false, true}) {
        CAPTURE(ranks);
        CAPTURE(per_node);
        std::vector<std::uint64_t> domains;
        const int nodes = (ranks + per_node - 1) / per_node;
        for (int rank = 0; rank < ranks; ++rank) {
          domains.push_back(
              static_cast<std::uint64_t>(1 + (scattered ? rank % nodes : rank / per_node)));
        }
        const NodeMap map = map_of(domains);
        std::vector<int> told(static_cast<std::size_t>(ranks), 0);
        int between_nodes = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const RankTree tree = tree_of_nodes(map, rank);
          CHECK((tree.parent < 0) == (rank == 0));
          CHECK(tree.children.size() <= 8 + 9);
          for (const int child : tree.children) {
            ++told[static_cast<std::size_t>(child)];
            CHECK(tree_of_nodes(map, child).parent == rank);
            if (map.node_of(child) != map.node_of(rank)) ++between_nodes;
          }
        }
        CHECK(told.front() == 0);
        CHECK(std::count(told.begin(), told.end(), 1) == ranks - 1);
        CHECK(between_nodes == map.node_count() - 1);
      }
    }
  }
}

}  // namespace nacre::plan
