// Every byte has one domain, one round and one position in the cycle buffer. No domain touches more
// OSTs than necessary, and the loads are even.
#include "plan/domains/file_domains.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/rounding.h"

namespace nacre::plan {
namespace {

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

Striping striping_on(std::int64_t stripe_size, std::vector<std::int32_t> osts) {
  Striping striping{.stripe_size = stripe_size,
                    .stripe_count = static_cast<std::int32_t>(osts.size())};
  for (const std::int32_t ost : osts) striping.objects.push_back({.ost = ost});
  return striping;
}

StripeMap map_of(const Layout& layout) {
  const Result<StripeMap> map = StripeMap::of(layout, 4);
  REQUIRE(map.ok());
  return *map;
}

StripeMap plain_map(std::int64_t stripe_size, std::int32_t slots) {
  return map_of(plain_layout({.stripe_size = stripe_size, .stripe_count = slots}));
}

/// One to three components, some overstriped.
StripeMap random_map(Random& random) {
  Layout layout;
  layout.is_composite = true;
  const std::int64_t count = pick(random, 1, 3);
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t end = i + 1 == count ? layout_end_of_file : begin + pick(random, 1, 150);
    std::vector<std::int32_t> osts;
    const std::int64_t slots = pick(random, 1, 9);
    const std::int64_t ost_count = pick(random, 1, 9);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      osts.push_back(static_cast<std::int32_t>(slot % ost_count));
    }
    LayoutComponent component{.begin = begin, .end = end};
    component.striping = striping_on(pick(random, 1, 20), std::move(osts));
    layout.components.push_back(std::move(component));
    begin = end;
  }
  return map_of(layout);
}

FileDomains random_domains(Random& random, const Extent& range, const StripeMap& map) {
  const auto count = static_cast<std::int32_t>(pick(random, 1, 12));
  const std::int64_t cycle = pick(random, 1, 60);
  const auto stripes = static_cast<std::int32_t>(pick(random, 1, 4));
  switch (pick(random, 0, 2)) {
    case 0:
      return FileDomains::of_blocks(range, pick(random, 1, 100), count, cycle);
    case 1:
      return FileDomains::of_stripes(range, map, stripes, count, cycle);
    default:
      return FileDomains::of_osts(
          range, map, {stripes, pick(random, 0, 1) == 0 ? OstSharing::turns : OstSharing::ranges},
          count, cycle);
  }
}

/// The domain of each byte.
void check_places(const FileDomains& domains, const Extent& range) {
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> taken;
  for (std::int64_t offset = range.offset; offset < range.end(); ++offset) {
    const DomainPlace place = domains.place_of(offset);
    CHECK((place.domain >= 0 && place.domain < domains.count()));
    CHECK((place.round >= 0 && place.round < domains.round_count()));
    REQUIRE(place.part.file.contains(offset));
    CHECK(intersection(place.part.file, range) == place.part.file);
    const std::int64_t in_buffer = place.part.place + offset - place.part.file.offset;
    CHECK(place.part.place >= 0);
    CHECK(in_buffer < domains.round_bytes_max());
    const bool alone = taken.insert({{place.domain, place.round, in_buffer}, offset}).second;
    CHECK(alone);
  }
}

/// Checks that each round has exactly the bytes that place() assigns to it, in order.
void check_rounds(const FileDomains& domains, const Extent& range) {
  std::int64_t bytes = 0;
  std::vector<FilePart> parts;
  for (int domain = 0; domain < domains.count(); ++domain) {
    for (std::int64_t round = 0; round < domains.round_count(); ++round) {
      domains.round_parts(domain, round, parts);
      std::int64_t end = -1;
      for (const FilePart& part : parts) {
        CHECK(part.file.offset >= end);
        end = part.file.end();
        bytes += part.file.length;
        for (const std::int64_t offset : {part.file.offset, part.file.end() - 1}) {
          const DomainPlace place = domains.place_of(offset);
          CHECK(place.domain == domain);
          CHECK(place.round == round);
          CHECK(place.part.place - place.part.file.offset == part.place - part.file.offset);
        }
      }
    }
    for (const std::int64_t behind : {domains.round_count_of(domain), domains.round_count()}) {
      domains.round_parts(domain, behind, parts);
      CHECK(parts.empty());
    }
  }
  CHECK(bytes == range.length);
}

void check_next(const FileDomains& domains, const Extent& range) {
  for (int domain = 0; domain < domains.count(); ++domain) {
    std::optional<std::int64_t> next;
    for (std::int64_t offset = range.end() - 1; offset >= range.offset; --offset) {
      if (domains.place_of(offset).domain == domain) next = offset;
      CHECK(domains.next_of(domain, offset) == next);
    }
  }
}

void check_ranges(const FileDomains& domains, const Extent& range) {
  std::vector<Extent> all;
  for (int domain = 0; domain < domains.count(); ++domain) {
    const std::vector<Extent> ranges = domains.ranges_of(domain, 1'000'000);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      CHECK(domains.place_of(ranges[i].offset).domain == domain);
      CHECK(domains.place_of(ranges[i].end() - 1).domain == domain);
      CHECK((i == 0 || ranges[i - 1].end() < ranges[i].offset));
    }
    const std::vector<Extent> first = domains.ranges_of(domain, 2);
    REQUIRE(first.size() <= std::min<std::size_t>(2, ranges.size()));
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(first[i].offset == ranges[i].offset);
      CHECK(first[i].length <= ranges[i].length);
    }
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  std::int64_t bytes = 0;
  for (const Extent& one : all) bytes += one.length;
  CHECK(bytes == range.length);
}

/// Bytes and slots of each domain, in the first rows of the file.
struct Load {
  std::int64_t bytes = 0;
  std::set<std::int32_t> slots;
  std::set<std::int32_t> osts;
};

std::vector<Load> loads_of(const FileDomains& domains, const StripeMap& map, const Extent& range) {
  std::vector<Load> loads(static_cast<std::size_t>(domains.count()));
  for (std::int64_t offset = range.offset; offset < range.end(); ++offset) {
    Load& load = loads[static_cast<std::size_t>(domains.place_of(offset).domain)];
    const StripePlace place = *map.place_of(offset);
    ++load.bytes;
    load.slots.insert(place.slot);
    load.osts.insert(map.regions()[place.region].osts[static_cast<std::size_t>(place.slot)]);
  }
  return loads;
}

std::int64_t uneven(const std::vector<Load>& loads) {
  const auto [least, most] = std::ranges::minmax(loads, {}, &Load::bytes);
  return most.bytes - least.bytes;
}

}  // namespace

TEST_CASE("every byte has one domain, round and position in every pattern") {
  const std::uint32_t seed = 77;
  MESSAGE("seed ", seed);
  Random random(seed);
  for (int repeat = 0; repeat < 400; ++repeat) {
    CAPTURE(repeat);
    const StripeMap map = random_map(random);
    const Extent range{pick(random, 0, 200), pick(random, 1, 300)};
    const FileDomains domains = random_domains(random, range, map);
    check_places(domains, range);
    check_rounds(domains, range);
    check_next(domains, range);
    check_ranges(domains, range);
  }
}

TEST_CASE("blocks: all small ranges, blocks, cycles and counts") {
  for (const std::int64_t origin : {0, 7}) {
    for (const std::int64_t length : {1, 2, 5, 12, 23}) {
      for (std::int32_t count = 1; count <= 3; ++count) {
        for (std::int64_t block = 1; block <= 8; ++block) {
          for (std::int64_t cycle = 1; cycle <= 10; ++cycle) {
            const Extent range{origin, length};
            const FileDomains domains = FileDomains::of_blocks(range, block, count, cycle);
            CHECK(domains.round_bytes_max() <= cycle);
            check_places(domains, range);
            check_rounds(domains, range);
          }
        }
      }
    }
  }
}

TEST_CASE("by slots: no domain has too many slots, and none has no slot") {
  for (std::int32_t slots = 1; slots <= 13; ++slots) {
    for (std::int32_t count = 1; count <= 17; ++count) {
      for (const std::int32_t least : {1, 2, 3, 20}) {
        CAPTURE(slots);
        CAPTURE(count);
        CAPTURE(least);
        const StripeMap map = plain_map(3, slots);
        const Extent range{0, 3 * slots * 17 * 4};
        const FileDomains domains = FileDomains::of_osts(range, map, {least}, count, 100);
        const std::int64_t sets = std::min<std::int64_t>(count, divide_up(slots, least));
        for (const Load& load : loads_of(domains, map, range)) {
          CHECK(load.bytes > 0);
          CHECK(std::ssize(load.slots) <= divide_up(slots, sets));
          CHECK(std::ssize(load.slots) >= slots / sets);
        }
      }
    }
  }
}

TEST_CASE("by slots: loads differ by at most a stripe if one number divides the other") {
  constexpr std::int64_t stripe = 4;
  for (std::int32_t slots = 1; slots <= 12; ++slots) {
    for (std::int32_t count = 1; count <= 24; ++count) {
      if (slots % count != 0 && count % slots != 0) continue;
      CAPTURE(slots);
      CAPTURE(count);
      const StripeMap map = plain_map(stripe, slots);
      for (const auto sharing : {OstSharing::turns, OstSharing::ranges}) {
        const Extent range{0, stripe * slots * 30 + 7};
        const FileDomains domains = FileDomains::of_osts(range, map, {1, sharing}, count, 16);
        CHECK(uneven(loads_of(domains, map, range)) <= stripe);
      }
    }
  }
}

TEST_CASE("by slots: primes never collapse to one aggregator") {
  for (const std::int32_t slots : {7, 11, 13}) {
    for (std::int32_t count = 2; count < slots; ++count) {
      const StripeMap map = plain_map(2, slots);
      const Extent range{0, 2 * slots * 10};
      const auto loads = loads_of(FileDomains::of_osts(range, map, {}, count, 8), map, range);
      for (const Load& load : loads) CHECK(load.bytes <= divide_up(slots, count) * 2 * 10);
    }
  }
}

TEST_CASE("by slots: if OSTs have several slots, an aggregator has the slots of one OST") {
  const StripeMap map = map_of(plain_layout(striping_on(2, {0, 1, 2, 3, 0, 1, 2, 3})));
  const Extent range{0, 2 * 8 * 5};
  for (const Load& load : loads_of(FileDomains::of_osts(range, map, {}, 4, 8), map, range)) {
    CHECK(load.slots.size() == 2);
    CHECK(load.osts.size() == 1);
  }
}

TEST_CASE("blocks of N stripes, dealt round robin as in the papers") {
  const StripeMap map = plain_map(1, 4);
  const FileDomains domains = FileDomains::of_stripes({0, 24}, map, 2, 3, 4);
  std::string owners;
  for (std::int64_t offset = 0; offset < 24; ++offset) {
    owners += static_cast<char>('0' + domains.place_of(offset).domain);
  }
  CHECK(owners == "001122001122001122001122");
  // Two blocks per round, adjacent in the cycle buffer.
  std::vector<FilePart> parts;
  domains.round_parts(1, 1, parts);
  CHECK(parts == std::vector<FilePart>{{{14, 2}, 0}, {{20, 2}, 2}});
}

TEST_CASE("adjacent blocks of a round are one part") {
  const StripeMap map = plain_map(10, 2);
  const FileDomains domains = FileDomains::of_osts({0, 80}, map, {2}, 2, 40);
  std::vector<FilePart> parts;
  domains.round_parts(1, 0, parts);
  CHECK(parts == std::vector<FilePart>{{{20, 20}, 0}, {{60, 20}, 20}});
}

TEST_CASE("time and memory do not depend on the number of stripes") {
  const StripeMap map = plain_map(1 << 20, 160);
  constexpr std::int64_t range = std::int64_t{1} << 60;
  const FileDomains domains =
      FileDomains::of_osts({0, range}, map, {1, OstSharing::ranges}, 320, 4 << 20);
  const DomainPlace place = domains.place_of(range - 1);
  std::vector<FilePart> parts;
  domains.round_parts(place.domain, place.round, parts);
  CHECK(parts.back().file.contains(range - 1));
  CHECK(domains.next_of(place.domain, range - 1) == range - 1);
}

}  // namespace nacre::plan
