// Groups of ranks, which take little memory if they are regular.
#include "plan/nodes/rank_groups.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

using Numbers = std::vector<std::int32_t>;

Numbers numbers(std::int32_t count, std::int32_t step = 1) {
  Numbers all(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i * step;
  return all;
}

}  // namespace

TEST_CASE("ranks, groups and places agree") {
  const RankGroups groups(Numbers{3, 1, 0, 2}, Numbers{0, 1});
  CHECK(groups.rank_count() == 4);
  CHECK(groups.count() == 2);
  CHECK(groups.size_max() == 3);
  CHECK(groups.size_of(0) == 1);
  CHECK(groups.size_of(1) == 3);
  CHECK(groups.rank_at(0, 0) == 3);
  CHECK(groups.rank_at(1, 2) == 2);
  CHECK(groups.group_of(3) == 0);
  CHECK(groups.place_of(3) == 0);
  CHECK(groups.group_of(2) == 1);
  CHECK(groups.place_of(2) == 2);
}

TEST_CASE("no ranks have no groups") {
  const RankGroups groups;
  CHECK(groups.count() == 0);
  CHECK(groups.size_max() == 0);
  CHECK(RankGroups::deserialized(groups.serialized()) == groups);
}

TEST_CASE("a million ranks in groups of successive ranks take less than 100 bytes") {
  const RankGroups rows(numbers(1'000'000), numbers(1'000, 1'000));
  CHECK(rows.serialized().size() < 100);
  CHECK(rows.group_of(123'456) == 123);
  CHECK(rows.place_of(123'456) == 456);
  CHECK(rows.size_max() == 1'000);
}

TEST_CASE("columns of a grid take 12 bytes for each row and each column") {
  constexpr std::int32_t rows = 1'000;
  constexpr std::int32_t columns = 40;
  Numbers by_columns;
  for (std::int32_t column = 0; column < columns; ++column) {
    for (std::int32_t row = 0; row < rows; ++row) by_columns.push_back(columns * row + column);
  }
  const RankGroups groups(by_columns, numbers(columns, rows));
  CHECK(groups.serialized().size() < (rows + columns) * 12 + 100);
  CHECK(groups.group_of(7 * columns + 3) == 3);
  CHECK(groups.place_of(7 * columns + 3) == 7);
}

TEST_CASE("any groups are found again, and decode from their encoding unchanged") {
  std::mt19937 random(11);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Numbers order = numbers(1 + static_cast<std::int32_t>(random() % 40));
    std::ranges::shuffle(order, random);
    Numbers begins{0};
    for (std::int32_t place = 1; place < std::ssize(order); ++place) {
      if (random() % 3 == 0) begins.push_back(place);
    }
    const RankGroups groups(order, begins);
    REQUIRE(groups.count() == std::ssize(begins));
    std::size_t at = 0;
    int most = 0;
    for (int group = 0; group < groups.count(); ++group) {
      CHECK(begins[static_cast<std::size_t>(group)] == static_cast<int>(at));
      most = std::max(most, groups.size_of(group));
      for (int place = 0; place < groups.size_of(group); ++place) {
        const int rank = groups.rank_at(group, place);
        CHECK(rank == order[at++]);
        CHECK(groups.group_of(rank) == group);
        CHECK(groups.place_of(rank) == place);
      }
    }
    CHECK(at == order.size());
    CHECK(groups.size_max() == most);
    const std::vector<std::byte> bytes = groups.serialized();
    CHECK(bytes.size() <= 18 * order.size() + 60);
    CHECK(RankGroups::deserialized(bytes) == groups);
  }
}

}  // namespace nacre::plan
