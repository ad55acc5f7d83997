// The slots that an access touches, against a scan of all its bytes.
#include "plan/call/stripes_touched.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

#include "plan/call/access_summary.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t stripe = 64 << 10;

StripeMap striped_over(int slots) {
  const Layout layout = plain_layout({.stripe_size = stripe, .stripe_count = slots});
  return StripeMap::of(layout, slots).value();
}

FileAccess strided(std::int64_t offset, std::int64_t length, std::int64_t stride,
                   std::int64_t count) {
  const TypeMap type = TypeMap::repeat(TypeMap::bytes(length), count, stride).value();
  return {{type, offset}, 0, length * count};
}

/// By every run, one by one.
StripesTouched scanned(const FileAccess& access, std::int64_t slots) {
  StripesTouched touched;
  for_each_row(RunCursor(access.view, access.first_byte, access.byte_count),
               [&](const RunSeries& row) {
                 for (std::int64_t i = 0; i < row.count; ++i) {
                   const std::int64_t begin = row.offset + i * row.stride;
                   const std::int64_t end = begin + row.length;
                   for (std::int64_t at = begin / stripe; at <= (end - 1) / stripe; ++at) {
                     touched.slots |= SlotSet{1} << (at % slots % 64);
                   }
                   if (begin % 4096 != 0 || end % 4096 != 0) touched.whole_pages = false;
                 }
               });
  return touched;
}

}  // namespace

TEST_CASE("random strided accesses touch the slots of their runs") {
  constexpr unsigned seed = 20261123;
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const int slots = static_cast<int>(1 + below(100));
    const std::int64_t unit = below(2) == 0 ? 4096 : 1 + below(10'000);
    const std::int64_t length = unit * (1 + below(20));
    const std::int64_t stride = below(2) == 0 ? stripe * (1 + below(20)) + length / stripe * stripe
                                              : length + unit * below(50);
    const FileAccess access =
        strided(unit * below(1000), length, std::max(length, stride), 1 + below(200));
    const StripesTouched expected = scanned(access, slots);
    const StripesTouched found = stripes_touched(access, striped_over(slots));
    CHECK((found.slots & expected.slots) == expected.slots);
    if (slots <= 64) CHECK(found.slots == expected.slots);
    if (found.whole_pages) CHECK(expected.whole_pages);
  }
}

TEST_CASE("an access of too many runs is assumed to touch all slots") {
  const FileAccess access = strided(0, 8, 3 * stripe + 8, 1'000'000);
  const StripesTouched touched = stripes_touched(access, striped_over(1000));
  CHECK(touched.slots == ~SlotSet{0});
  CHECK_FALSE(touched.whole_pages);
}

TEST_CASE("a stride of whole rows stays on its slot, however many runs there are") {
  const FileAccess access = strided(2 * stripe, stripe, 8 * stripe, 1'000'000);
  const StripesTouched touched = stripes_touched(access, striped_over(8));
  CHECK(touched.slots == SlotSet{4});
  CHECK(touched.whole_pages);
}

TEST_CASE("a summary knows how many nodes meet on an OST") {
  const StripeMap stripes = striped_over(4);
  AccessSummary all;
  for (int rank = 0; rank < 8; ++rank) {
    const FileAccess access = strided(rank * stripe, stripe, 8 * stripe, 10);
    fold(all, summarize(access, {nullptr, TypeMap::bytes(1), 10 * stripe}, rank / 2, &stripes));
  }
  CHECK(all.slots == SlotSet{15});
  CHECK(all.nodes_per_slot() == 2);  // four nodes, each on two slots
  CHECK(bool{all.whole_pages});
}

}  // namespace nacre::plan
