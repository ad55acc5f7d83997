// Aggregators are different ranks, each rank knows whether it is an aggregator, and every rank has
// one.
#include "plan/nodes/aggregators.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {

TEST_CASE("spread: different ranks, and each rank knows whether it is an aggregator") {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int count = 1; count <= ranks; ++count) {
      const NodeMap nodes = NodeMap::singles(ranks);
      const Aggregators aggregators = Aggregators::over_nodes(count, 0, nodes);
      std::vector<int> found(static_cast<std::size_t>(ranks), -1);
      for (int a = 0; a < count; ++a) {
        const int rank = aggregators.rank_of(a);
        CHECK(found[static_cast<std::size_t>(rank)] == -1);
        found[static_cast<std::size_t>(rank)] = a;
      }
      CHECK(found[0] == 0);
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(aggregators.of_rank(rank).value_or(-1) == found[static_cast<std::size_t>(rank)]);
        CHECK(aggregators.serves(count - 1, rank));
      }
    }
  }
}

TEST_CASE("spread: not all on one socket, if ranks are assigned to sockets in turn") {
  const NodeMap nodes = NodeMap::singles(16);
  for (const int count : {2, 4, 8}) {
    CAPTURE(count);
    const Aggregators aggregators = Aggregators::over_nodes(count, 0, nodes);
    int on_second_socket = 0;
    for (int a = 0; a < count; ++a) on_second_socket += aggregators.rank_of(a) % 2;
    CHECK(2 * on_second_socket == count);
  }
}

TEST_CASE("spread: neighbours are on one node, for any mapping of ranks to nodes") {
  const int node_count = 4;
  const int rank_count = 16;
  std::vector<NodeMap::Run> runs;
  for (int rank = 0; rank < rank_count; ++rank) {
    runs.push_back({static_cast<std::uint64_t>(1 + rank % node_count), 1});
  }
  const NodeMap nodes = NodeMap::from_runs(runs);
  for (const int count : {4, 8, 16}) {
    CAPTURE(count);
    const Aggregators aggregators = Aggregators::over_nodes(count, 0, nodes);
    CHECK(aggregators.rank_of(0) == 0);
    for (int a = 0; a < count; ++a) {
      CHECK(nodes.node_of(aggregators.rank_of(a)) == a * node_count / count);
      CHECK(aggregators.of_rank(aggregators.rank_of(a)) == a);
    }
  }
}

TEST_CASE(
    "sets: different ranks, each knows its index, and a set is on one node with room for it") {
  for (const int node_count : {1, 2, 3, 5}) {
    for (const int ranks_a_node : {1, 2, 4, 7}) {
      std::vector<NodeMap::Run> runs;  // dealt round robin
      for (int rank = 0; rank < node_count * ranks_a_node; ++rank) {
        runs.push_back({static_cast<std::uint64_t>(1 + rank % node_count), 1});
      }
      const NodeMap nodes = NodeMap::from_runs(runs);
      for (int sets = 1; sets <= nodes.rank_count(); ++sets) {
        for (int size = 1; sets * size <= nodes.rank_count(); ++size) {
          CAPTURE(node_count);
          CAPTURE(ranks_a_node);
          CAPTURE(sets);
          CAPTURE(size);
          const Aggregators aggregators = Aggregators::over_nodes(sets * size, sets, nodes);
          std::vector<int> found(static_cast<std::size_t>(nodes.rank_count()), -1);
          for (int a = 0; a < sets * size; ++a) {
            int& of_rank = found[static_cast<std::size_t>(aggregators.rank_of(a))];
            CHECK(of_rank == -1);
            of_rank = a;
          }
          CHECK(found[0] == 0);
          for (int rank = 0; rank < nodes.rank_count(); ++rank) {
            CHECK(aggregators.of_rank(rank).value_or(-1) == found[static_cast<std::size_t>(rank)]);
          }
          const bool has_room = sets <= ranks_a_node / size * node_count;
          for (int a = 0; has_room && a < sets * size; ++a) {
            CHECK(nodes.node_of(aggregators.rank_of(a)) ==
                  nodes.node_of(aggregators.rank_of(a / size * size)));
          }
        }
      }
    }
  }
}

TEST_CASE("sets: every node with room for a set gets one") {
  const std::vector<NodeMap::Run> runs{{1, 1}, {2, 5}, {3, 2}, {4, 3}};
  const NodeMap nodes = NodeMap::from_runs(runs);
  const Aggregators two = Aggregators::over_nodes(6, 2, nodes);
  const Aggregators too_many = Aggregators::over_nodes(9, 3, nodes);
  for (int member = 0; member < 3; ++member) {
    CHECK(two.rank_of(member) == 1 + member);
    CHECK(two.rank_of(3 + member) == 8 + member);
    CHECK(too_many.rank_of(member) == member);
  }
  CHECK_FALSE(two.of_rank(0).has_value());
  CHECK_FALSE(two.of_rank(4).has_value());
  CHECK(two.of_rank(10) == 5);
}

TEST_CASE("groups: the first member is the aggregator of its group only") {
  const std::vector<std::int32_t> begins{0, 2, 3};
  const auto groups =
      std::make_shared<const RankGroups>(std::vector<std::int32_t>{4, 0, 2, 3, 1}, begins);
  const Aggregators aggregators = Aggregators::of_groups(groups);
  CHECK(aggregators.count() == 3);
  CHECK(aggregators.rank_of(0) == 4);
  CHECK(aggregators.rank_of(1) == 2);
  CHECK(aggregators.rank_of(2) == 3);
  CHECK(aggregators.of_rank(3) == 2);
  CHECK(aggregators.of_rank(4) == 0);
  CHECK_FALSE(aggregators.of_rank(0).has_value());
  CHECK_FALSE(aggregators.of_rank(1).has_value());
  CHECK(aggregators.serves(0, 0));
  CHECK(aggregators.serves(2, 1));
  CHECK_FALSE(aggregators.serves(1, 1));
}

}  // namespace nacre::plan
