// Compares sparse bytes with a plain array.
#include "testing/sparse_bytes.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

namespace nacre::testing {

TEST_CASE("random writes, truncations and reads agree with a plain array") {
  constexpr std::int64_t span_bytes = 300'000;  // more than four blocks
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t limit) {
      return static_cast<std::int64_t>(random()) % limit;
    };
    SparseBytes sparse;
    std::vector<std::byte> plain;
    for (int step = 0; step < 60; ++step) {
      const std::int64_t offset = below(span_bytes);
      const std::int64_t length = below(100'000);
      if (below(4) == 0) {
        sparse.resize(offset);
        plain.resize(static_cast<std::size_t>(offset));
      } else {
        const std::vector<std::byte> data(static_cast<std::size_t>(length),
                                          static_cast<std::byte>(1 + below(255)));
        sparse.write(data, offset);
        if (length > 0) {
          plain.resize(std::max(plain.size(), static_cast<std::size_t>(offset + length)));
        }
        std::copy(data.begin(), data.end(), plain.begin() + (length > 0 ? offset : 0));
      }
      REQUIRE(sparse.size() == static_cast<std::int64_t>(plain.size()));
      std::vector<std::byte> all(plain.size() + 10, std::byte{0xff});
      REQUIRE(sparse.read(all, 0) == sparse.size());
      REQUIRE(std::equal(plain.begin(), plain.end(), all.begin()));
      REQUIRE(all.back() == std::byte{0xff});
    }
  }
}

TEST_CASE("a byte at a large offset takes one block only") {
  SparseBytes sparse;
  const std::vector<std::byte> data{std::byte{7}};
  sparse.write(data, std::int64_t{5} << 40);
  CHECK(sparse.size() == (std::int64_t{5} << 40) + 1);
  std::vector<std::byte> read(2);
  CHECK(sparse.read(read, (std::int64_t{5} << 40) - 1) == 2);
  CHECK(read == std::vector<std::byte>{std::byte{0}, std::byte{7}});
}

TEST_CASE("a read after the end returns nothing") {
  SparseBytes sparse;
  std::vector<std::byte> read(2);
  CHECK(sparse.read(read, 0) == 0);
  CHECK(sparse.read(read, 100) == 0);
}

}  // namespace nacre::testing
