// ProfileDigest: the reduction over 1 to 9 ranks, and over more ranks than it has room for.
#include "collective/profile/profile_digest.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

std::size_t count_index(std::string_view name) {
  const auto found = std::ranges::find(count_names, name);
  REQUIRE(found != count_names.end());
  return static_cast<std::size_t>(found - count_names.begin());
}

/// The profile of rank r: r file accesses of r bytes.
void fill(Profile& profile, int rank) {
  profile.calls.add(1);
  for (int i = 0; i < rank; ++i) profile.count_file_call({0, rank}, 4096);
  profile.nanoseconds[static_cast<std::size_t>(Phase::file)].add(rank);
  profile.nanoseconds[static_cast<std::size_t>(Phase::away)].add(1'000);
  profile.file_thread_nanoseconds.add(100 * rank);
}

Task<std::vector<ProfileDigest>> reduced(Transport& transport) {
  Profile profile;
  fill(profile, transport.rank());
  std::vector<RankFigures> figures{figures_of(profile, transport.rank()),
                                   figures_of(Profile(), transport.rank())};
  Task<std::vector<ProfileDigest>> digesting = digest_figures(transport, std::move(figures));
  std::vector<ProfileDigest> digests = co_await digesting;
  co_return digests;
}

Task<std::vector<Spread>> ranks_and_squares(Transport& transport) {
  const std::int64_t rank = transport.rank();
  Task<std::vector<Spread>> spreading = spread_figures(transport, {rank, rank * rank});
  std::vector<Spread> spreads = co_await spreading;
  co_return spreads;
}

/// The digests on rank 0. Other ranks must have none.
std::vector<ProfileDigest> reduce_over(int rank_count, int ranks_per_node = 1) {
  testing::InProcessNetwork network(
      {.rank_count = rank_count, .ranks_per_node = ranks_per_node, .deals_ranks = true});
  auto results = testing::run_polled<std::vector<ProfileDigest>>(
      network, [&](int rank) { return reduced(network.transport(rank)); }, 5);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  for (std::size_t rank = 1; rank < results->size(); ++rank) CHECK((*results)[rank].empty());
  return results->front();
}

}  // namespace

TEST_CASE("minimum, median, maximum and sum of 1 to 9 ranks on 1 to 9 nodes") {
  for (int i = 0; i < 27; ++i) {
    const int ranks = 1 + i / 3;
    const int ranks_per_node = 1 + i % 3;
    CAPTURE(ranks);
    CAPTURE(ranks_per_node);
    const ProfileDigest digest = reduce_over(ranks, ranks_per_node).front();
    const Spread& calls = digest.counts[count_index("file_calls")];
    CHECK(calls.count() == ranks);
    CHECK(calls.min() == 0);
    CHECK(calls.median() == (ranks - 1) / 2);
    CHECK(calls.max() == ranks - 1);
    CHECK(calls.sum() == ranks * (ranks - 1) / 2);
    CHECK(digest.counts[count_index("calls")].sum() == ranks);
    CHECK(digest.nanoseconds[static_cast<std::size_t>(Phase::away)].sum() == 1'000 * ranks);
    CHECK(digest.total_nanoseconds.max() == ranks - 1);
    CHECK(digest.file_thread_nanoseconds.max() == 100 * (ranks - 1));
    CHECK(digest.file_thread_nanoseconds.sum() == 50 * ranks * (ranks - 1));
    CHECK(digest.file_calls[1] == (ranks > 1 ? 1 : 0));
    CHECK(digest.file_calls[2] == (ranks > 3 ? 5 : ranks > 2 ? 2 : 0));
  }
}

TEST_CASE("spreads of single figures") {
  testing::InProcessNetwork network({.rank_count = 10, .ranks_per_node = 4});
  const auto results = testing::run_polled<std::vector<Spread>>(
      network, [&](int rank) { return ranks_and_squares(network.transport(rank)); }, 5);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  const std::vector<Spread>& spreads = results->front();
  REQUIRE(spreads.size() == 2);
  CHECK(spreads[0].count() == 10);
  CHECK(spreads[0].sum() == 45);
  CHECK(spreads[1].max() == 81);
  CHECK(results->back().empty());
}

TEST_CASE("digests of ranks without accesses stay empty") {
  const ProfileDigest digest = reduce_over(4).back();
  for (const Spread& spread : digest.counts) CHECK(spread.max() == 0);
  CHECK(digest.busiest[0].rank == -1);
}

TEST_CASE("the ranks with the most bytes are listed, as many as fit") {
  const ProfileDigest few = reduce_over(5).front();
  for (int i = 0; i < 4; ++i) {
    CHECK(few.busiest[static_cast<std::size_t>(i)].rank == 4 - i);
  }
  CHECK(few.busiest[4].rank == -1);
  CHECK(few.busiest[0].bytes == 16);
  CHECK(few.busiest[0].calls == 4);
  CHECK(few.busiest[0].nanoseconds == 404);
  const ProfileDigest many = reduce_over(100).front();
  for (std::size_t i = 0; i < ProfileDigest::busiest_max; ++i) {
    CHECK(many.busiest[i].rank == 99 - static_cast<int>(i));
  }
}

}  // namespace nacre::collective
