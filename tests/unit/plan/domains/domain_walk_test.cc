// DomainWalk finds every byte of an access once, in its domain, in increasing rounds.
#include "plan/domains/domain_walk.h"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

FileAccess random_access(Random& random) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;
  for (std::int64_t i = pick(random, 1, 5); i > 0; --i) {
    offsets.push_back(end + pick(random, 0, 30));
    lengths.push_back(pick(random, 1, 20));
    end = offsets.back() + lengths.back();
  }
  const TypeMap type = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  const TypeMap tile = type.resized(0, end + pick(random, 0, 100)).value();
  return {{tile, pick(random, 0, 50)}, pick(random, 0, 40), pick(random, 1, 300)};
}

FileDomains random_domains(Random& random, const FileAccess& access) {
  const Extent bytes = bounds(access);
  const std::int64_t begin = bytes.offset - pick(random, 0, bytes.offset);
  const Extent range{begin, bytes.end() + pick(random, 0, 100) - begin};
  const auto count = static_cast<std::int32_t>(pick(random, 1, 5));
  const std::int64_t cycle = pick(random, 1, 100);
  if (pick(random, 0, 1) == 0) {
    const std::int64_t block = pick(random, 0, 1) == 0 ? pick(random, 1, 40) : pick(random, 1, 600);
    return FileDomains::of_blocks(range, block, count, cycle);
  }
  const Striping striping{.stripe_size = pick(random, 1, 60),
                          .stripe_count = static_cast<std::int32_t>(pick(random, 1, 6))};
  const StripeMap map = StripeMap::of(plain_layout(striping), 4).value();
  return FileDomains::of_osts(range, map, {}, count, cycle);
}

}  // namespace

TEST_CASE("random accesses and plans: each byte is found at its position") {
  const std::uint64_t seed = 1'234;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 1'000; ++repeat) {
    CAPTURE(repeat);
    const FileAccess access = random_access(random);
    const FileDomains domains = random_domains(random, access);
    std::int64_t bytes = 0;
    for (int domain = 0; domain < domains.count(); ++domain) {
      std::int64_t last_round = -1;
      std::int64_t next_byte = access.first_byte;
      std::vector<RoundPiece> pieces;
      for (DomainWalk walk(domains, domain, access); !walk.done();) {
        const std::int64_t round = walk.round();
        REQUIRE(round > last_round);
        last_round = round;
        std::int64_t in_round = 0;
        const std::int64_t told = walk.take_round(pieces);
        for (const RoundPiece& piece : pieces) {
          REQUIRE(piece.first_byte >= next_byte);
          REQUIRE(piece.byte_count > 0);
          next_byte = piece.first_byte + piece.byte_count;
          in_round += piece.byte_count;
          for (std::int64_t p = piece.first_byte; p < next_byte; ++p) {
            const std::int64_t offset = offset_of(access.view, p);
            const DomainPlace place = domains.place_of(offset);
            REQUIRE(place.domain == domain);
            REQUIRE(place.round == round);
            REQUIRE(piece.origin == place.part.file.offset - place.part.place);
          }
        }
        CHECK(told == in_round);
        bytes += in_round;
      }
    }
    CHECK(bytes == access.byte_count);
  }
}

TEST_CASE("gaps cost nothing: two runs an exbibyte apart are two rounds") {
  const std::int64_t exbibyte = std::int64_t{1} << 60;
  const FileAccess access{{TypeMap::bytes(8).resized(0, exbibyte).value(), 0}, 0, 16};
  const Extent range{0, exbibyte + 8};
  const FileDomains domains = FileDomains::of_blocks(range, range.length, 1, 4'096);
  DomainWalk walk(domains, 0, access);
  std::vector<RoundPiece> pieces;
  CHECK(walk.take_round(pieces) == 8);
  CHECK(walk.round() == exbibyte / 4'096);
  CHECK(walk.take_round(pieces) == 8);
  CHECK(walk.done());
}

}  // namespace nacre::plan
