// OstTallies against an oracle that asks for the OST of every byte, and their reduction over ranks.
#include "collective/profile/ost_tallies.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

plan::LayoutComponent component(const Extent& extent, std::int64_t stripe_bytes,
                                const std::vector<std::int32_t>& osts) {
  plan::LayoutComponent one{.flags = plan::component_instantiated,
                            .begin = extent.offset,
                            .end = extent.end(),
                            .striping = {.stripe_size = stripe_bytes,
                                         .stripe_count = static_cast<std::int32_t>(osts.size())}};
  for (const std::int32_t ost : osts) one.striping.objects.push_back({.ost = ost});
  return one;
}

/// A layout of two components: stripes of 64 KiB on OST 3, then of 128 KiB on three OSTs.
plan::StripeMap two_components() {
  constexpr std::int64_t head = 1 << 20;
  plan::Layout layout;
  layout.is_composite = true;
  layout.components = {component({0, head}, 64 << 10, {3}),
                       component({head, plan::layout_end_of_file - head}, 128 << 10, {0, 5, 3})};
  return plan::StripeMap::of(layout, 6).value();
}

std::map<std::int32_t, std::int64_t> bytes_by_ost(const plan::StripeMap& stripes,
                                                  const Extent& extent) {
  constexpr std::int64_t step = 64;  // stripes and the test's offsets are multiples
  std::map<std::int32_t, std::int64_t> bytes;
  for (std::int64_t at = extent.offset; at < extent.end(); at += step) {
    const plan::StripePlace place = stripes.place_of(at).value();
    const auto slot = static_cast<std::size_t>(place.slot);
    bytes[stripes.regions()[place.region].osts[slot]] += step;
  }
  return bytes;
}

}  // namespace

TEST_CASE("random calls are counted on the OSTs that hold their bytes") {
  const plan::StripeMap stripes = two_components();
  std::mt19937_64 random(7);
  OstTallies tallies;
  std::vector<OstTally> expected(6);
  for (int i = 0; i < 200; ++i) {
    const Extent extent{static_cast<std::int64_t>(random() % (3 << 14)) * 64,
                        static_cast<std::int64_t>(random() % (1 << (random() % 15))) * 64};
    tallies.add(&stripes, {extent, 10});
    const auto bytes = bytes_by_ost(stripes, extent);
    for (const auto& [ost, count] : bytes) {
      OstTally& tally = expected[static_cast<std::size_t>(ost)];
      tally.bytes += count;
      if (bytes.size() == 1) {
        tally.alone_bytes += count;
        tally.alone_nanoseconds += 10;
      }
    }
  }
  const std::vector<OstTally> found = tallies.by_ost();
  REQUIRE(found.size() == expected.size());
  for (std::size_t ost = 0; ost < found.size(); ++ost) {
    CAPTURE(ost);
    CHECK(found[ost].bytes == expected[ost].bytes);
    CHECK(found[ost].alone_bytes == expected[ost].alone_bytes);
    CHECK(found[ost].alone_nanoseconds == expected[ost].alone_nanoseconds);
  }
}

TEST_CASE("calls on OSTs that the file system names later are counted when it has named them") {
  const plan::StripeMap named = two_components();
  plan::Layout layout;
  layout.is_composite = true;
  layout.components = {
      component({0, 1 << 20}, 64 << 10, {3}),
      {.begin = 1 << 20, .striping = {.stripe_size = 128 << 10, .stripe_count = 3}}};
  const plan::StripeMap unnamed = plan::StripeMap::of(layout, 6).value();
  OstTallies tallies;
  tallies.add(nullptr, {{0, 4096}, 0});
  tallies.add(&unnamed, {{2 << 20, 4096}, 0});
  CHECK(tallies.by_ost().empty());
  tallies.add(&unnamed, {{64 << 10, 100}, 0});
  CHECK(tallies.by_ost().at(3).bytes == 100);
  tallies.resolve(named);
  std::int64_t bytes = 0;
  for (const OstTally& tally : tallies.by_ost()) bytes += tally.bytes;
  CHECK(bytes == 100 + 2 * 4096);
  tallies.resolve(named);
  CHECK(tallies.by_ost().at(3).bytes == 100 + 4096);
}

TEST_CASE("the tallies of 1 to 5 ranks add up, though they reached different OSTs") {
  const plan::StripeMap stripes = two_components();
  for (int ranks = 1; ranks <= 5; ++ranks) {
    CAPTURE(ranks);
    testing::InProcessNetwork network({.rank_count = ranks});
    std::vector<OstTallies> tallies(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      tallies[static_cast<std::size_t>(rank)].add(
          &stripes, {{(1 << 20) + rank * std::int64_t{128 << 10}, 4096}, 0});
    }
    const auto results = testing::run_polled<ReducedOsts>(
        network,
        [&](int rank) {
          return reduce_osts(network.transport(rank), tallies[static_cast<std::size_t>(rank)]);
        },
        3);
    REQUIRE(results.has_value());
    std::int64_t bytes = 0;
    for (const OstTally& tally : results->front().by_ost) bytes += tally.bytes;
    CHECK(bytes == ranks * 4096);
    RanksByOst by_rank = results->front().ranks;
    REQUIRE(by_rank.bands.count() == ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t of_rank = 0;
      for (std::int64_t ost = 0; ost < by_rank.ost_count; ++ost) of_rank += by_rank.at(rank, ost);
      CHECK(of_rank == 4096);
    }
  }
}

TEST_CASE("OSTs share columns where there are many") {
  constexpr std::int64_t ost_count = 2'000;
  RanksByOst ranks{.bands = RankBands(2), .ost_count = ost_count, .bytes = {}};
  ranks.bytes.resize(2 * RanksByOst::columns_max);
  for (std::int64_t ost = 0; ost < ost_count; ++ost) ranks.at(1, ost) += 1;
  for (std::int64_t column = 0; column < RanksByOst::columns_max; ++column) {
    const std::int64_t first = ranks.first_ost(column);
    CHECK(ranks.at(0, first) == 0);
    const std::int64_t bytes = ranks.at(1, first);
    CHECK((bytes == 62 || bytes == 63));
    if (first > 0) CHECK(&ranks.at(1, first) != &ranks.at(1, first - 1));
  }
}

}  // namespace nacre::collective
