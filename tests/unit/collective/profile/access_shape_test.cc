// AccessShape: the shapes that reach rank 0 place the same bytes as the calls did.
#include "collective/profile/access_shape.h"

#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

/// Each rank writes blocks of 10 bytes at distances of 100, in steps of 4 blocks.
plan::FileAccess call_of(int rank, int call) {
  const auto blocks = plan::TypeMap::repeat(plan::TypeMap::bytes(10), 4, 100);
  REQUIRE(blocks);
  const auto tile = blocks->resized(0, 400);
  REQUIRE(tile);
  return {{*tile, 1000 + std::int64_t{10} * rank}, std::int64_t{40} * call, 40};
}

Task<std::vector<std::vector<RankShape>>> sampled(Transport& transport) {
  AccessShape regular;
  AccessShape irregular;
  const AccessShape unused;
  for (int call = 0; call < 3; ++call) {
    regular.note(call_of(transport.rank(), call));
    irregular.note(call_of(transport.rank(), call * call));
  }
  const std::vector<const AccessShape*> kinds{&regular, &irregular, &unused};
  auto sampling = sample_shapes(transport, kinds);
  auto shapes = co_await sampling;
  co_return shapes;
}

}  // namespace

TEST_CASE("rank 0 gets the shapes of rank 0, the powers of two and the last rank") {
  for (const int ranks : {1, 2, 6, 9, 17}) {
    CAPTURE(ranks);
    testing::InProcessNetwork network({.rank_count = ranks});
    auto results = testing::run_polled<std::vector<std::vector<RankShape>>>(
        network, [&](int rank) { return sampled(network.transport(rank)); }, 5);
    REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
    const auto& kinds = results->front();
    REQUIRE(kinds.size() == 3);
    std::vector<int> found;
    for (const RankShape& of_rank : kinds[0]) found.push_back(of_rank.rank);
    std::vector<int> expected;
    for (int rank = 0; rank < ranks; ++rank) {
      if (is_sampled(rank, ranks)) expected.push_back(rank);
    }
    CHECK(found == expected);
    CHECK(kinds[1].size() == expected.size());
    CHECK(kinds[2].empty());
    for (const RankShape& of_rank : kinds[0]) {
      CHECK(of_rank.shape.step_bytes == 400);
      std::span<const std::byte> type = of_rank.shape.type;
      const auto decoded = plan::TypeMap::decode(type);
      REQUIRE(decoded);
      const plan::FileAccess call = call_of(of_rank.rank, 0);
      for (std::int64_t byte = 0; byte < 80; ++byte) {
        CHECK(plan::offset_of({*decoded, of_rank.shape.origin}, of_rank.shape.first_byte + byte) ==
              plan::offset_of(call.view, call.first_byte + byte));
      }
    }
    for (const RankShape& of_rank : kinds[1]) CHECK(!of_rank.shape.step_bytes);
  }
}

TEST_CASE("a long type is left out, and later calls do not change the shape") {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> displacements{0};
  while (displacements.size() < 400) {
    displacements.push_back(displacements.back() + 8 +
                            static_cast<std::int64_t>(random() % 100'000));
  }
  const std::vector<std::int64_t> lengths(displacements.size(), 1);
  const auto irregular = plan::TypeMap::indexed(plan::TypeMap::bytes(8), lengths, displacements);
  REQUIRE(irregular);
  AccessShape shape;
  shape.note({{*irregular, 0}, 0, irregular->size()});
  for (int call = 0; call < 100; ++call) shape.note(call_of(0, call * call));
  const auto first = shape.first();
  REQUIRE(first.has_value());
  CHECK(first->bytes == 3200);
  CHECK(first->type.empty());
}

TEST_CASE("calls without bytes have no shape") {
  AccessShape shape;
  shape.note({{plan::TypeMap::bytes(1), 0}, 0, 0});
  CHECK(!shape.first());
}

}  // namespace nacre::collective
