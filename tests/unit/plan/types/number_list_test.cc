// Goal: a number list returns its numbers, and takes little memory if they are close together.
#include "plan/types/number_list.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

void check_same(const std::vector<std::int64_t>& numbers) {
  const NumberList list(numbers);
  REQUIRE(list.size() == std::ssize(numbers));
  for (std::int64_t i = 0; i < list.size(); ++i) {
    REQUIRE(list[i] == numbers[static_cast<std::size_t>(i)]);
  }
}

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

TEST_CASE("lists of all lengths and ranges return their numbers") {
  check_same({});
  check_same({greatest});
  check_same({least, greatest});
  check_same({greatest, least, 0});
  check_same({0, 0xffffffff});
  check_same({0, 0x100000000});
  check_same({-0x80000000LL, 0x7fffffff});
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 3000; ++i) numbers.push_back(i * i * 400 - 7);
  check_same(numbers);
  numbers[1500] = least;
  check_same(numbers);
}

TEST_CASE("close numbers take four bytes each, at any offset") {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 100'000; ++i) numbers.push_back((std::int64_t{1} << 50) + i * 4096);
  CHECK(NumberList(numbers).heap_bytes() < 401'000);
  numbers[10] = 0;
  CHECK(NumberList(numbers).heap_bytes() <= 800'000);
}

TEST_CASE("lower_bound finds the first number not below") {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 2000; ++i) numbers.push_back(3 * i);
  const NumberList list(numbers);
  for (std::int64_t value = -2; value <= 6002; ++value) {
    const std::int64_t expected = value <= 0 ? 0 : (value + 2) / 3;
    REQUIRE(list.lower_bound(value) == std::min<std::int64_t>(expected, 2000));
  }
  CHECK(NumberList().lower_bound(0) == 0);
}

}  // namespace
}  // namespace nacre::plan
