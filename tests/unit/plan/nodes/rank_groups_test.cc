// Groups of ranks and their encoding, which is short for regular groups.
#include "plan/nodes/rank_groups.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

std::vector<std::int32_t> numbers(std::int32_t count, std::int32_t step = 1) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i * step;
  return all;
}

}  // namespace

TEST_CASE("members, groups and positions agree") {
  const RankGroups groups({3, 1, 0, 2}, std::vector<std::int32_t>{0, 1});
  CHECK(groups.rank_count() == 4);
  CHECK(groups.count() == 2);
  CHECK(groups.size_max() == 3);
  CHECK(std::ranges::equal(groups.members(0), std::vector{3}));
  CHECK(std::ranges::equal(groups.members(1), std::vector{1, 0, 2}));
  CHECK(groups.group_of(3) == 0);
  CHECK(groups.place_of(3) == 0);
  CHECK(groups.group_of(2) == 1);
  CHECK(groups.place_of(2) == 2);
}

TEST_CASE("regular groups are encoded in a few bytes") {
  const RankGroups rows(numbers(10'000), numbers(100, 100));
  CHECK(rows.serialized().size() <= 32);
  std::vector<std::int32_t> by_columns;
  for (std::int32_t column = 0; column < 4; ++column) {
    for (std::int32_t row = 0; row < 1'000; ++row) by_columns.push_back(4 * row + column);
  }
  const RankGroups columns(by_columns, numbers(4, 1'000));
  CHECK(columns.serialized().size() <= 80);
  CHECK(RankGroups::deserialized(rows.serialized()) == rows);
  CHECK(RankGroups::deserialized(columns.serialized()) == columns);
}

TEST_CASE("any groups decode from their encoding unchanged") {
  std::mt19937 random(11);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<std::int32_t> order = numbers(1 + static_cast<std::int32_t>(random() % 40));
    std::ranges::shuffle(order, random);
    std::vector<std::int32_t> begins{0};
    for (std::int32_t place = 1; place < std::ssize(order); ++place) {
      if (random() % 3 == 0) begins.push_back(place);
    }
    const RankGroups groups(order, begins);
    const std::vector<std::byte> bytes = groups.serialized();
    CHECK(bytes.size() <= 8 + 12 * 2 * order.size());
    CHECK(RankGroups::deserialized(bytes) == groups);
  }
}

}  // namespace nacre::plan
