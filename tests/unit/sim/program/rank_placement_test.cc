// The places of all ranks follow from those of a few, if the ranks are arranged regularly.
#include "sim/program/rank_placement.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "collective/profile/access_shape.h"

namespace nacre::sim {
namespace {

using Begins = std::function<std::int64_t(int)>;

RankPlacement placement_of(int rank_count, const Begins& begins) {
  std::vector<RankPlacement::Sample> samples;
  for (int rank = 0; rank < rank_count; ++rank) {
    if (collective::is_sampled(rank, rank_count)) samples.push_back({rank, begins(rank)});
  }
  return {rank_count, samples};
}

int misplaced(int rank_count, const Begins& begins) {
  const RankPlacement placement = placement_of(rank_count, begins);
  int count = 0;
  for (int rank = 0; rank < rank_count; ++rank) {
    if (placement.begin_of(rank) != begins(rank)) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("ranks in a row are found, in any number") {
  for (int count = 1; count < 70; ++count) {
    CAPTURE(count);
    CHECK(misplaced(count, [](int rank) { return 100 + 47'008 * std::int64_t{rank}; }) == 0);
  }
}

TEST_CASE("grids of two, three and four dimensions are found") {
  constexpr std::array<std::array<int, 4>, 8> grids{{{3, 3, 1, 1},
                                                     {4, 6, 1, 1},
                                                     {5, 7, 1, 1},
                                                     {16, 4, 1, 1},
                                                     {3, 4, 5, 1},
                                                     {8, 8, 8, 1},
                                                     {2, 3, 3, 4},
                                                     {4, 8, 4, 2}}};
  for (const auto& lengths : grids) {
    CAPTURE(lengths[0]);
    CAPTURE(lengths[1]);
    CAPTURE(lengths[2]);
    const auto begins = [&](int rank) {
      std::int64_t offset = 0;
      std::int64_t stride = 512;
      for (const int length : lengths) {
        offset += rank % length * stride;
        rank /= length;
        stride *= 10 * length;
      }
      return offset;
    };
    CHECK(misplaced(lengths[0] * lengths[1] * lengths[2] * lengths[3], begins) == 0);
  }
}

TEST_CASE("columns before rows are found") {
  const auto begins = [](int rank) { return rank % 6 * 80'000 + rank / 6 * std::int64_t{800}; };
  CHECK(misplaced(24, begins) == 0);
}

TEST_CASE("ranks without a grid lie between those that are known") {
  const auto begins = [](int rank) { return std::int64_t{rank} * (rank + 1) / 2 * 4'096; };
  const RankPlacement placement = placement_of(32, begins);
  CHECK_FALSE(placement.is_grid());
  for (int rank = 1; rank < 32; ++rank) {
    CHECK(placement.begin_of(rank) > placement.begin_of(rank - 1));
  }
}

}  // namespace nacre::sim
