// Spread: minimum, maximum and sum are exact, and the median is within a sixteenth, in any order of
// folding.
#include "collective/profile/spread.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::collective {
namespace {

Spread spread_of(const std::vector<std::int64_t>& values) {
  Spread spread;
  for (const std::int64_t value : values) spread.add(value);
  return spread;
}

std::int64_t lower_median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

}  // namespace

TEST_CASE("an empty spread is all zeros") {
  const Spread spread;
  CHECK(spread.count() == 0);
  CHECK(spread.min() == 0);
  CHECK(spread.median() == 0);
  CHECK(spread.max() == 0);
  CHECK(spread.sum() == 0);
}

TEST_CASE("values below 16 and equal values have an exact median") {
  for (std::int64_t value = 0; value < 16; ++value) {
    CHECK(spread_of({0, value, 15}).median() == value);
  }
  for (const std::int64_t value : {17L, 999L, 123'456'789'012L}) {
    CHECK(spread_of({value, value, value}).median() == value);
  }
}

TEST_CASE("the median is within a sixteenth of the true one at every size") {
  std::mt19937_64 random(1);
  for (int bits = 1; bits < 63; ++bits) {
    std::vector<std::int64_t> values;
    for (int i = 0; i < 1 + bits; ++i) {
      values.push_back(static_cast<std::int64_t>(random() >> (64 - bits)));
    }
    const Spread spread = spread_of(values);
    const std::int64_t median = lower_median(values);
    CAPTURE(median);
    CHECK(std::abs(spread.median() - median) <= median / 16);
    CHECK(spread.min() == std::ranges::min(values));
    CHECK(spread.max() == std::ranges::max(values));
  }
}

TEST_CASE("folding equals adding, and sums saturate") {
  Spread folded = spread_of({5, 0, 70'000});
  folded.fold(spread_of({12}));
  folded.fold(Spread());
  CHECK(folded.count() == 4);
  CHECK(folded.nonzero_count() == 3);
  CHECK(folded.min() == 0);
  CHECK(folded.median() == 5);
  CHECK(folded.max() == 70'000);
  CHECK(folded.sum() == 70'017);
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  folded.fold(spread_of({largest}));
  CHECK(folded.sum() == largest);
  CHECK(folded.max() == largest);
}

}  // namespace nacre::collective
