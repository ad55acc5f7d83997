// Compares the reported OSTs with a walk over all bytes.
#include "plan/domains/osts_touched.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "plan/layout/stripe_options.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t stripe = 1 << 16;

StripeMap striped(const char* options) {
  return StripeMap::of(parse_stripe_options(options).value(), 8).value();
}

/// The result of a walk over the stripes of a file with one component and unknown OSTs.
OstsTouched walked(const FileDomains& domains, const StripeMap& stripes, const Extent& range) {
  std::map<int, std::set<std::int32_t>> slots;
  std::map<std::int32_t, std::set<int>> on;
  for (std::int64_t at = range.offset; at < range.end(); at += stripe / 4) {
    const int domain = domains.place_of(at).domain;
    const std::int32_t slot = stripes.place_of(at)->slot;
    slots[domain].insert(slot);
    on[slot].insert(domain);
  }
  OstsTouched touched{.min = 1 << 30};
  for (const auto& [domain, found] : slots) {
    touched.min = std::min(touched.min, static_cast<std::int32_t>(found.size()));
    touched.max = std::max(touched.max, static_cast<std::int32_t>(found.size()));
  }
  for (const auto& [slot, found] : on) {
    touched.domains_on_one =
        std::max(touched.domains_on_one, static_cast<std::int32_t>(found.size()));
  }
  return touched;
}

void check_alike(const OstsTouched& found, const OstsTouched& expected) {
  CHECK(found.min == expected.min);
  CHECK(found.max == expected.max);
  CHECK(found.domains_on_one == expected.domains_on_one);
}

}  // namespace

TEST_CASE("every pattern touches the OSTs that the walk finds") {
  for (const std::int32_t slots : {1, 2, 5, 8, 13}) {
    const StripeMap stripes = striped(("-c " + std::to_string(slots) + " -S 64k").c_str());
    for (const std::int32_t count : {1, 2, 3, 4, 8, 11, 17}) {
      const Extent range{0, 97 * stripe};
      CAPTURE(slots);
      CAPTURE(count);
      for (const std::int32_t osts : {1, 2, 3, 5}) {
        const FileDomains blocks = FileDomains::of_stripes(range, stripes, osts, count, 2 * stripe);
        check_alike(osts_touched(blocks, stripes), walked(blocks, stripes, range));
        for (const OstSharing sharing : {OstSharing::turns, OstSharing::ranges}) {
          const FileDomains sets =
              FileDomains::of_osts(range, stripes, {osts, sharing}, count, 2 * stripe);
          check_alike(osts_touched(sets, stripes), walked(sets, stripes, range));
        }
      }
      const FileDomains even =
          FileDomains::of_blocks(range, (97 * 4 / count + 1) * stripe / 4, count, 3 * stripe);
      check_alike(osts_touched(even, stripes), walked(even, stripes, range));
      const FileDomains parts = FileDomains::of_osts(range, stripes, {}, count, stripe / 4);
      check_alike(osts_touched(parts, stripes), walked(parts, stripes, range));
    }
  }
}

TEST_CASE("the OSTs after a long component of one stripe are counted") {
  const StripeMap stripes = striped("-E 64m -c 1 -S 64k -E -1 -c 8 -S 64k");
  const Extent range{0, 128 << 20};
  const FileDomains slots = FileDomains::of_osts(range, stripes, {}, 4, stripe);
  check_alike(osts_touched(slots, stripes), {.min = 3, .max = 3, .domains_on_one = 4});
  CHECK(share_osts(slots, stripes));
  const FileDomains halves = FileDomains::of_blocks(range, 64 << 20, 2, stripe);
  check_alike(osts_touched(halves, stripes), {.min = 1, .max = 8, .domains_on_one = 1});
}

TEST_CASE("slots on the same OST count once") {
  Layout layout = parse_stripe_options("-C 4 -S 64k").value();
  Striping& striping = layout.components.front().striping;
  for (const std::int32_t ost : {0, 1, 0, 1}) striping.objects.push_back({.ost = ost});
  const StripeMap stripes = StripeMap::of(layout, 2).value();
  const Extent range{0, 64 * stripe};
  check_alike(osts_touched(FileDomains::of_osts(range, stripes, {}, 2, stripe), stripes),
              {.min = 1, .max = 1, .domains_on_one = 1});
}

}  // namespace nacre::plan
