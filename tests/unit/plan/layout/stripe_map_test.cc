// Compares the map from bytes to slots and back with a walk over the stripes of the file.
#include "plan/layout/stripe_map.h"

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "layout_samples.h"
#include "plan/layout/lov_codec.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mib = 1 << 20;

StripeMap map_of(const std::string& name) {
  const Result<StripeMap> map = StripeMap::of(*decode_lov(layout_sample(name).bytes), 4);
  REQUIRE(map.ok());
  return *map;
}

std::string refusal(const Layout& layout) {
  const Result<StripeMap> map = StripeMap::of(layout, 4);
  return map ? "" : map.error().message;
}

LayoutComponent component(std::int64_t begin, std::int64_t end, std::int32_t stripes) {
  return {
      .begin = begin, .end = end, .striping = {.stripe_size = 64 << 10, .stripe_count = stripes}};
}

Layout composite(std::vector<LayoutComponent> components) {
  Layout layout;
  layout.is_composite = true;
  layout.components = std::move(components);
  return layout;
}

/// The inverse of StripeMap::place_of().
std::int64_t offset_of(const StripeMap& map, const StripePlace& place) {
  const StripedRegion& region = map.regions()[place.region];
  const std::int64_t row = place.object_offset / region.stripe_size;
  return row * region.row_bytes() + place.slot * region.stripe_size +
         place.object_offset % region.stripe_size;
}

}  // namespace

TEST_CASE(
    "every byte has one position in one object, objects have no gaps, and the inverse agrees") {
  const std::uint32_t seed = 4;
  MESSAGE("seed ", seed);
  std::mt19937 random(seed);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::int64_t size = 1 + random() % 5;
    const auto slots = static_cast<std::int32_t>(1 + random() % 7);
    Striping striping{.stripe_size = size, .stripe_count = slots};
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      striping.objects.push_back({.ost = static_cast<std::int32_t>(random() % 4)});
    }
    const Result<StripeMap> map = StripeMap::of(plain_layout(striping), 4);
    REQUIRE(map.ok());
    std::vector<std::int64_t> filled(static_cast<std::size_t>(slots), 0);
    for (std::int64_t offset = 0; offset < 100; ++offset) {
      const auto place = map->place_of(offset);
      REQUIRE(place.has_value());
      std::int64_t& next = filled[static_cast<std::size_t>(place->slot)];
      CHECK(place->slot == offset / size % slots);
      CHECK(place->object_offset == next++);
      CHECK(offset_of(*map, *place) == offset);
    }
    const Extent whole = map->object_extent(0, slots - 1, {0, 100});
    CHECK(whole == Extent{0, filled.back()});
    const std::int64_t cut = static_cast<std::int64_t>(random() % 100);
    std::int64_t sum = 0;
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      const Extent front = map->object_extent(0, slot, {0, cut});
      const Extent back = map->object_extent(0, slot, {cut, 100 - cut});
      CHECK(front.end() == back.offset);
      sum += front.length + back.length;
    }
    CHECK(sum == 100);
  }
}

TEST_CASE("stripes of components are counted from the start of the file") {
  const StripeMap map = map_of("pfl-all-instantiated");
  REQUIRE(map.regions().size() == 3);
  CHECK(map.regions()[2].extent.end() == layout_end_of_file);
  CHECK(map.place_of(0) == StripePlace{0, 0, 0});
  // The second of two slots has the odd stripes of 1 MiB.
  CHECK(map.place_of(mib) == StripePlace{1, 1, 0});
  CHECK(map.place_of(5 * mib + 7) == StripePlace{1, 1, 2 * mib + 7});
  CHECK(map.place_of(64 * mib) == StripePlace{2, 0, 16 * mib});
}

TEST_CASE("parity is never taken for the data, even if the data are stale") {
  Layout layout = *decode_lov(erasure_coded_sample());
  const auto osts = [&] { return StripeMap::of(layout, 4)->regions()[0].osts; };
  CHECK(StripeMap::of(layout, 4)->regions().size() == 1);
  CHECK(osts() == std::vector<std::int32_t>{1, 0});
  std::swap(layout.components[0], layout.components[1]);
  CHECK(osts() == std::vector<std::int32_t>{1, 0});
  layout.components[1].flags |= component_stale;
  CHECK(osts() == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("uninstantiated components, data on the MDT, mirrors and extensions") {
  CHECK(map_of("pfl-fresh").regions()[2].osts == std::vector<std::int32_t>(4, unknown_ost));
  CHECK(map_of("dom-then-4").regions()[0].osts == std::vector<std::int32_t>{on_mdt});
  CHECK(map_of("flr-two-mirrors").regions()[0].osts == std::vector<std::int32_t>{2, 3});
  Layout stale = *decode_lov(layout_sample("flr-two-mirrors").bytes);
  stale.components[0].flags |= component_stale;
  CHECK(StripeMap::of(stale, 4)->regions()[0].osts == std::vector<std::int32_t>{0});
  const StripeMap extending = map_of("sel-extension");
  REQUIRE(extending.regions().size() == 3);
  CHECK(extending.regions()[1].stripe_size == mib);
  CHECK(extending.regions()[1].extent == Extent{mib, 255 * mib});
  CHECK(extending.regions()[2].slot_count() == 2);
  CHECK(map_of("overstriped-8-on-4").regions()[0].slot_count() == 8);
}

TEST_CASE("stripes over all OSTs: one per OST") {
  const Layout layout = plain_layout({.stripe_size = mib, .stripe_count = stripes_on_all_osts});
  CHECK(StripeMap::of(layout, 7)->regions()[0].slot_count() == 7);
}

TEST_CASE("a file gets the requested stripe count, at most one per OST") {
  const auto over_four = [](std::int32_t count, bool overstriped) {
    return stripe_count_over({.overstriped = overstriped, .stripe_count = count}, 4);
  };
  CHECK(over_four(3, false) == 3);
  CHECK(over_four(100, false) == 4);
  CHECK(over_four(stripes_on_all_osts, false) == 4);
  CHECK(over_four(100, true) == 100);
  CHECK(over_four(stripes_on_all_osts - 1, true) == 8);
  CHECK(over_four(stripes_on_all_osts - 1, false) == 4);
}

TEST_CASE("bytes after a head without a tail have no position") {
  const Result<StripeMap> map = StripeMap::of(composite({component(0, mib, 1)}), 4);
  REQUIRE(map.ok());
  CHECK(map->place_of(mib - 1).has_value());
  CHECK_FALSE(map->place_of(mib).has_value());
}

TEST_CASE("released, foreign and contradictory layouts are refused") {
  CHECK(refusal(*decode_lov(layout_sample("foreign-file").bytes)).find("foreign") !=
        std::string::npos);
  CHECK(refusal(plain_layout({.released = true, .stripe_size = mib, .stripe_count = 1}))
            .find("released") != std::string::npos);
  CHECK(refusal(plain_layout({.stripe_count = 1})).find("no stripe size") != std::string::npos);
  CHECK(refusal(composite({component(0, mib, 1), component(2 * mib, 3 * mib, 1)})).find("gaps") !=
        std::string::npos);
  CHECK(refusal(composite({component(mib, 2 * mib, 1)})).find("gaps") != std::string::npos);
  CHECK(refusal(composite({})).find("no components") != std::string::npos);
  CHECK(refusal(composite({component(0, 0, 1)})).find("empty") != std::string::npos);
}

}  // namespace nacre::plan
