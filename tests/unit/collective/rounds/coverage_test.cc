// Coverage reports exactly the marked granules.
#include "collective/rounds/coverage.h"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::collective {
namespace {

/// Zeroed words for a Coverage.
std::vector<std::uint64_t> words_for(std::int64_t size, std::int64_t granule) {
  return std::vector<std::uint64_t>(
      static_cast<std::size_t>(Coverage::words_needed(size, granule)));
}

std::vector<bool> marked_bytes(const Coverage& coverage, std::int64_t size) {
  std::vector<bool> marked(static_cast<std::size_t>(size));
  std::int64_t end = -1;
  for (Extent range = coverage.next(0); !range.empty(); range = coverage.next(range.end())) {
    CHECK(range.offset > end);  // maximal ranges never touch
    end = range.end();
    CHECK(end <= size);
    for (std::int64_t i = range.offset; i < end; ++i) marked[static_cast<std::size_t>(i)] = true;
  }
  return marked;
}

}  // namespace

TEST_CASE("every single extent in a small space is found exactly") {
  constexpr std::int64_t size = 140;
  std::vector<std::uint64_t> words = words_for(size, 1);
  Coverage coverage(words, size, 1);
  for (std::int64_t begin = 0; begin < size; ++begin) {
    for (std::int64_t end = begin + 1; end <= size; ++end) {
      coverage.mark(Extent{begin, end - begin});
      CHECK(coverage.next(0) == Extent{begin, end - begin});
      CHECK(coverage.next(end).empty());
      coverage.clear(size);
    }
  }
  CHECK(coverage.next(0).empty());
}

TEST_CASE("random extents and granules agree with a list of bytes") {
  const std::uint64_t seed = 7'001;
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto size = static_cast<std::int64_t>(1 + random() % 1'000);
    const std::int64_t granule = std::int64_t{1} << (random() % 4);
    std::vector<std::uint64_t> words = words_for(size, granule);
    const auto markers = random() % 2 == 0 ? Coverage::Markers::one : Coverage::Markers::several;
    Coverage coverage(words, size, granule, markers);
    for (int round = 0; round < 2; ++round) {
      std::vector<bool> expected(static_cast<std::size_t>(size));
      for (int i = 0; i < 10; ++i) {
        const auto begin = static_cast<std::int64_t>(random() % static_cast<unsigned>(size));
        const auto length =
            static_cast<std::int64_t>(random() % static_cast<unsigned>(size - begin));
        coverage.mark(Extent{begin, length});
        if (length == 0) continue;
        const std::int64_t first = begin / granule * granule;
        const std::int64_t last = (begin + length - 1) / granule * granule + granule;
        for (std::int64_t k = first; k < last && k < size; ++k) {
          expected[static_cast<std::size_t>(k)] = true;
        }
      }
      CHECK(marked_bytes(coverage, size) == expected);
      if (granule == 1) {
        CHECK(coverage.count() == std::ranges::count(expected, true));
      }
      Extent hull;
      for (Extent run = coverage.next(0); !run.empty(); run = coverage.next(run.end())) {
        hull = nacre::hull(hull, run);
      }
      CHECK(coverage.hull() == hull);
      coverage.clear(size);
    }
  }
}

TEST_CASE("marks of a part are merged into the whole") {
  std::vector<std::uint64_t> words = words_for(300, 1);
  Coverage whole(words, 300, 1);
  whole.mark(Extent{60, 10});
  std::vector<std::uint64_t> part_words = words_for(150, 1);
  Coverage part(part_words, 150, 1, Coverage::Markers::one);
  part.mark(Extent{0, 2});
  part.mark(Extent{10, 139});
  whole.mark(part, 128);
  CHECK(whole.next(0) == Extent{60, 10});
  CHECK(whole.next(70) == Extent{128, 2});
  CHECK(whole.next(130) == Extent{138, 139});
  CHECK(whole.next(277).empty());
}

TEST_CASE("a series of runs is marked run by run, or with its gaps if they are short") {
  std::vector<std::uint64_t> words = words_for(100, 1);
  Coverage coverage(words, 100, 1);
  coverage.mark(plan::RunSeries{10, 2, 5, 3}, 0);
  CHECK(coverage.next(0) == Extent{10, 2});
  CHECK(coverage.next(12) == Extent{15, 2});
  CHECK(coverage.next(17) == Extent{20, 2});
  coverage.clear(100);
  coverage.mark(plan::RunSeries{10, 2, 5, 3}, 3);
  CHECK(coverage.next(0) == Extent{10, 12});
}

}  // namespace nacre::collective
