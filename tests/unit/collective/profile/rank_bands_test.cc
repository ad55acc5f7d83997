// RankBands: each rank is in one band, and bands are of equal size, but for one rank.
#include "collective/profile/rank_bands.h"

#include <doctest/doctest.h>

namespace nacre::collective {

TEST_CASE("bands divide the ranks in order, from 1 to 100 ranks") {
  for (int ranks = 1; ranks <= 100; ++ranks) {
    CAPTURE(ranks);
    const RankBands bands(ranks);
    CHECK(bands.count() == (ranks < RankBands::count_max ? ranks : RankBands::count_max));
    CHECK(bands.first_rank(0) == 0);
    CHECK(bands.first_rank(bands.count()) == ranks);
    for (int band = 0; band < bands.count(); ++band) {
      const int size = bands.rank_count(band);
      CHECK((size == ranks / bands.count() || size == ranks / bands.count() + 1));
      CHECK(bands.band_of(bands.first_rank(band)) == band);
      CHECK(bands.band_of(bands.first_rank(band + 1) - 1) == band);
    }
  }
}

TEST_CASE("a million ranks are in 16 bands") {
  const RankBands bands(1'000'000);
  CHECK(bands.count() == 16);
  CHECK(bands.band_of(999'999) == 15);
  CHECK(bands.rank_count(15) == 62'500);
}

}  // namespace nacre::collective
