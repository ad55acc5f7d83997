// libFuzzer target: decodes any bytes as a layout. What comes out must encode to what decodes to
// itself, print as text, and map a byte to the same place of an object in both ways of asking.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/layout/layout_codec.h"
#include "plan/layout/layout_yaml.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {
namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check_place(const StripeMap& map, std::int64_t offset) {
  const auto place = map.place_of(offset);
  if (!place) return;
  const Extent in_object = map.object_extent(place->region, place->slot, Extent{offset, 1});
  require(in_object == Extent{place->object_offset, 1});
}

void check(std::span<const std::byte> bytes) {
  const Result<Layout> layout = decode_layout(bytes);
  if (!layout) return require(!layout.error().message.empty());
  const Result<std::vector<std::byte>> encoded = encode_layout(*layout);
  require(encoded.ok() && encoded->size() <= bytes.size());
  const Result<Layout> again = decode_layout(*encoded);
  require(again.ok() && *again == *layout);
  require(!layout_yaml(*layout).empty());
  const Result<StripeMap> map = StripeMap::of(*layout, 4);
  if (!map) return;
  for (const StripedRegion& region : map->regions()) {
    check_place(*map, region.extent.offset);
    check_place(*map, region.extent.end() - 1);
    check_place(*map, region.extent.offset + region.extent.length / 2);
  }
}

}  // namespace
}  // namespace nacre::plan

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nacre::plan::check(std::as_bytes(std::span(data, size)));
  return 0;
}
