// Agreements give every rank the right value at every rank count, with O(log ranks) messages, in
// any order of ranks and messages.
#include "collective/agreement/agreements.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

const std::vector<int> rank_counts{1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 33, 300};

std::span<std::byte> bytes_of(std::int64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// a * 3 + b: not commutative, so that the order matters.
void fold_in_order(std::span<std::byte> into, std::span<const std::byte> from) {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::memcpy(&a, into.data(), sizeof a);
  std::memcpy(&b, from.data(), sizeof b);
  a = a * 3 + b;
  std::memcpy(into.data(), &a, sizeof a);
}

Task<std::vector<std::byte>> broadcast_twice(Transport& transport, int root) {
  std::int64_t fixed = transport.rank() == root ? 17 + root : -1;
  co_await broadcast(transport, bytes_of(fixed), root);
  std::vector<std::byte> sized;
  if (transport.rank() == root) sized.assign(static_cast<std::size_t>(fixed), std::byte{5});
  co_await broadcast_sized(transport, sized, root);
  co_return sized;
}

Task<std::int64_t> fold_ranks(Transport& transport) {
  std::int64_t value = transport.rank() + 1;
  co_await all_reduce(transport, bytes_of(value), &fold_in_order);
  co_return value;
}

Task<PrefixSum> sum_before(Transport& transport, std::int64_t value) {
  Task<PrefixSum> sum = prefix_sum(transport, value);
  PrefixSum result = co_await sum;
  co_return result;
}

Task<Status> agree_on(Transport& transport, std::vector<int> failing) {
  Status local;
  if (std::find(failing.begin(), failing.end(), transport.rank()) != failing.end()) {
    const auto error_class = transport.rank() % 2 == 0 ? ErrorClass::io : ErrorClass::no_space;
    local = Error{error_class, transport.rank(), "disk " + std::to_string(transport.rank())};
  }
  Task<Status> agreement = agree(transport, std::move(local));
  Status status = co_await agreement;
  co_return status;
}

/// The ranks of this node on its lowest rank, and their sum over all nodes on rank 0.
struct OfNode {
  std::vector<std::byte> ranks;
  std::int64_t sum = 0;
};
Task<OfNode> sum_by_node(Transport& transport) {
  const auto own = static_cast<std::byte>(transport.rank());
  Task<std::vector<std::byte>> gathering = gather_on_node(transport, std::span(&own, 1));
  OfNode of_node;
  of_node.ranks = co_await gathering;
  for (const std::byte rank : of_node.ranks) of_node.sum += std::to_integer<std::int64_t>(rank);
  Task<Unit> reducing =
      reduce_over_nodes(transport, bytes_of(of_node.sum), &add_integers<std::int64_t>);
  co_await reducing;
  co_return of_node;
}

int log2_up(int count) { return std::bit_width(static_cast<unsigned>(count - 1)); }

}  // namespace

TEST_CASE("the lowest ranks of the nodes gather from their node, and reduce over the nodes") {
  for (const int count : {1, 2, 5, 9, 33}) {
    for (const int per_node : {1, 3, 64}) {
      for (const bool deals : {false, true}) {
        testing::InProcessNetwork network(
            {.rank_count = count, .ranks_per_node = per_node, .deals_ranks = deals});
        const auto results = testing::run_polled<OfNode>(
            network, [&](int rank) { return sum_by_node(network.transport(rank)); }, 5);
        REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
        CHECK(results->front().sum == count * (count - 1) / 2);
        for (int rank = 0; rank < count; ++rank) {
          const std::vector<int> mates = network.nodes().ranks_on(network.nodes().node_of(rank));
          const auto is = [](std::byte found, int mate) {
            return std::to_integer<int>(found) == mate;
          };
          const std::vector<int> expected = rank == mates.front() ? mates : std::vector<int>{};
          const std::vector<std::byte>& found = (*results)[static_cast<std::size_t>(rank)].ranks;
          CHECK(std::ranges::equal(found, expected, is));
        }
      }
    }
  }
}

TEST_CASE("broadcast brings the root's bytes to all") {
  for (const int count : rank_counts) {
    for (const int root : {0, count / 2, count - 1}) {
      testing::InProcessNetwork network({count, testing::SendMode::mixed, 11});
      const auto results = testing::run_polled<std::vector<std::byte>>(
          network, [&](int rank) { return broadcast_twice(network.transport(rank), root); }, 5);
      REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
      for (const auto& bytes : *results) {
        CHECK(bytes == std::vector<std::byte>(static_cast<std::size_t>(17 + root), std::byte{5}));
      }
      CHECK(network.unmatched_count() == 0);
    }
  }
}

TEST_CASE("all_reduce gives every rank the same value, in a fixed order") {
  for (const int count : rank_counts) {
    std::int64_t first = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      testing::InProcessNetwork network({count, testing::SendMode::mixed, seed});
      const auto results = testing::run_polled<std::int64_t>(
          network, [&](int rank) { return fold_ranks(network.transport(rank)); }, seed);
      REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
      if (seed == 1) first = results->front();
      for (const std::int64_t value : *results) CHECK(value == first);
      for (int rank = 0; rank < count; ++rank) {
        CHECK(network.sent_count(rank) <= 1 + log2_up(count));
      }
    }
  }
}

TEST_CASE("all_same is false if one rank has another value") {
  for (const int count : rank_counts) {
    for (int other = 0; other <= count; ++other) {  // count: no rank differs
      testing::InProcessNetwork network({count, testing::SendMode::mixed, 1});
      const auto results = testing::run_polled<bool>(
          network,
          [&](int rank) { return all_same(network.transport(rank), rank == other ? -3 : 4); }, 1);
      REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
      for (const bool same : *results) CHECK(same == (other == count || count == 1));
    }
  }
}

TEST_CASE("prefix_sum returns the sums of the preceding ranks and of all ranks") {
  for (const int count : rank_counts) {
    testing::InProcessNetwork network({count, testing::SendMode::rendezvous, 1});
    const auto value = [](int rank) { return std::int64_t{rank} * rank + 1; };
    const auto results = testing::run_polled<PrefixSum>(
        network, [&](int rank) { return sum_before(network.transport(rank), value(rank)); }, 9);
    REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
    std::int64_t before = 0;
    for (int rank = 0; rank < count; ++rank) {
      CHECK((*results)[static_cast<std::size_t>(rank)].before == before);
      before += value(rank);
    }
    for (const PrefixSum& sum : *results) CHECK(sum.total == before);
  }
}

TEST_CASE("agree returns success, or the error of the lowest failing rank on all ranks") {
  for (const int count : rank_counts) {
    const std::vector<std::vector<int>> cases{
        {}, {0}, {count - 1}, {count / 2, count - 1}, {count - 1, 0}};
    for (const std::vector<int>& failing : cases) {
      testing::InProcessNetwork network({count, testing::SendMode::mixed, 8});
      const auto results = testing::run_polled<Status>(
          network, [&](int rank) { return agree_on(network.transport(rank), failing); }, 2);
      REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
      const int lowest = failing.empty() ? -1 : *std::min_element(failing.begin(), failing.end());
      for (int rank = 0; rank < count; ++rank) {
        const Status& status = (*results)[static_cast<std::size_t>(rank)];
        REQUIRE(status.ok() == failing.empty());
        if (status.ok()) continue;
        const std::string own = "disk " + std::to_string(lowest);
        const std::string prefix = "rank " + std::to_string(lowest) + ": ";
        CHECK(status.error().message == (rank == lowest ? own : prefix + own));
        CHECK(status.error().system_errno == lowest);
        CHECK(status.error().error_class ==
              (lowest % 2 == 0 ? ErrorClass::io : ErrorClass::no_space));
      }
    }
  }
}

TEST_CASE("an agreed message is cut to 480 bytes") {
  testing::InProcessNetwork network({2});
  const auto task = [&](int rank) -> Task<Status> {
    Status local;
    if (rank == 1) local = Error{ErrorClass::io, 5, std::string(10'000, 'x')};
    return agree(network.transport(rank), std::move(local));
  };
  const auto results = testing::run_polled<Status>(network, task, 1);
  REQUIRE(results.has_value());
  CHECK(results->front().error().message == "rank 1: " + std::string(480, 'x'));
}

TEST_CASE("all ranks know all nodes") {
  for (const int ranks : rank_counts) {
    for (const int nodes : {1, 2, 5, 300}) {
      CAPTURE(ranks);
      CAPTURE(nodes);
      testing::InProcessNetwork network({ranks, testing::SendMode::mixed, 1});
      const auto maps = testing::run_polled<plan::NodeMap>(
          network,
          [&](int rank) {
            const auto domain = static_cast<std::uint64_t>(rank % nodes + 1);
            return agree_on_nodes(network.transport(rank), domain);
          },
          5);
      REQUIRE_MESSAGE(maps.has_value(), network.failure().value_or(""));
      for (const plan::NodeMap& map : *maps) {
        CHECK(map == maps->front());
        CHECK(map.node_count() == std::min(ranks, nodes));
        for (int rank = 0; rank < ranks; ++rank) CHECK(map.node_of(rank) == rank % nodes);
      }
    }
  }
}

}  // namespace nacre::collective
