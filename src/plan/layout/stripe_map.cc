#include "plan/layout/stripe_map.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

/// The number of a mirror without stale or offline components; the first mirror if there is none.
/// Parity is no mirror.
std::uint32_t mirror_in_sync(const Layout& layout) {
  const auto lags = [&](std::uint32_t mirror) {
    return std::ranges::any_of(layout.components, [&](const LayoutComponent& one) {
      return one.mirror() == mirror && (one.flags & (component_stale | component_offline)) != 0;
    });
  };
  for (const LayoutComponent& one : layout.components) {
    if (!one.is_parity() && !lags(one.mirror())) return one.mirror();
  }
  const auto data = std::ranges::find(layout.components, false, &LayoutComponent::is_parity);
  return (data == layout.components.end() ? layout.components.begin() : data)->mirror();
}

std::vector<std::int32_t> osts_of(const Striping& striping, std::int32_t ost_count) {
  if (striping.pattern == StripePattern::mdt) return {on_mdt};
  std::vector<std::int32_t> osts;
  osts.reserve(striping.objects.size());
  for (const OstObject& object : striping.objects) osts.push_back(object.ost);
  if (!osts.empty()) return osts;
  const bool is_number = !stands_for_osts(striping.stripe_count);
  const std::int32_t count =
      is_number ? striping.stripe_count : stripe_count_over(striping, ost_count);
  const std::int32_t ost = striping.object_size == 0 ? unknown_ost : unnamed_ost;
  return std::vector<std::int32_t>(static_cast<std::size_t>(std::max(1, count)), ost);
}

Result<StripedRegion> region_of(const Striping& striping, const Extent& extent,
                                std::int32_t ost_count) {
  if (striping.released)
    return layout_error("the file's data are released (HSM); restore them with lfs hsm_restore");
  StripedRegion region{extent, striping.stripe_size, osts_of(striping, ost_count),
                       striping.object_size};
  if (striping.pattern == StripePattern::mdt) region.stripe_size = extent.length;
  if (region.stripe_size < 1) return layout_error("it has no stripe size");
  return region;
}

/// Slot `slot`'s bytes before `offset`, in a file striped from its beginning on like `region`.
std::int64_t object_bytes_before(const StripedRegion& region, std::int32_t slot,
                                 std::int64_t offset) {
  const std::int64_t row = offset / region.row_bytes();
  const std::int64_t into_row = offset % region.row_bytes() - slot * region.stripe_size;
  return row * region.stripe_size + std::clamp<std::int64_t>(into_row, 0, region.stripe_size);
}

}  // namespace

std::int32_t stripe_count_over(const Striping& striping, std::int32_t ost_count) {
  if (stands_for_osts(striping.stripe_count)) {
    const std::int32_t below_all = stripes_on_all_osts - striping.stripe_count;
    const std::int32_t each = striping.overstriped ? below_all + 1 : 1;
    return std::min(ost_count * each, stripe_count_max);
  }
  return striping.overstriped ? striping.stripe_count : std::min(striping.stripe_count, ost_count);
}

std::int64_t StripedRegion::unit_bytes() const {
  // Below the bytes that keep one writer busy (FileSystemFacts::saturation_bytes), a longer unit
  // would leave writers without bytes.
  constexpr std::int64_t unit_bytes_max = 32 << 20;
  if (object_size == 0) return stripe_size;
  for (const std::int64_t unit :
       {saturating_multiply<std::int64_t>(object_size, slot_count()), row_bytes()}) {
    if (unit <= unit_bytes_max) return unit;
  }
  return stripe_size;
}

Result<StripeMap> StripeMap::of(const Layout& layout, std::int32_t ost_count) {
  if (layout.foreign) {
    return layout_error("it is foreign: the file has no data on this file system");
  }
  if (layout.components.empty()) return layout_error("it has no components");
  StripeMap map;
  const std::uint32_t mirror = mirror_in_sync(layout);
  const Striping* last = nullptr;
  for (const LayoutComponent& one : layout.components) {
    if (one.mirror() != mirror || one.is_parity()) continue;
    const std::int64_t begin = map.regions_.empty() ? 0 : map.regions_.back().extent.end();
    if (one.begin != begin)
      return layout_error("component " + std::to_string(one.id) + " begins at byte " +
                          std::to_string(one.begin) + " instead of " + std::to_string(begin) +
                          ": there are gaps or overlaps");
    // A component that extends will be striped like the component before it.
    const Striping& striping = one.extends() && last != nullptr ? *last : one.striping;
    last = &one.striping;
    if (one.begin == one.end) continue;
    auto region = region_of(striping, {one.begin, one.end - one.begin}, ost_count);
    if (!region) return std::move(region).error();
    map.regions_.push_back(*std::move(region));
  }
  if (map.regions_.empty()) return layout_error("its components are all empty");
  return map;
}

const StripedRegion& StripeMap::main_region(const Extent& bytes) const {
  return *std::ranges::max_element(regions_, {}, [&](const StripedRegion& region) {
    return intersection(region.extent, bytes).length;
  });
}

std::optional<StripePlace> StripeMap::place_of(std::int64_t offset) const {
  const auto after = std::ranges::upper_bound(
      regions_, offset, {}, [](const StripedRegion& region) { return region.extent.offset; });
  const auto index = static_cast<std::size_t>(after - regions_.begin()) - 1;
  const StripedRegion& region = regions_[index];
  if (offset >= region.extent.end()) return std::nullopt;
  const std::int64_t stripe = offset / region.stripe_size;
  return StripePlace{
      index, static_cast<std::int32_t>(stripe % region.slot_count()),
      stripe / region.slot_count() * region.stripe_size + offset % region.stripe_size};
}

bool StripeMap::names_osts() const {
  return std::ranges::all_of(regions_,
                             [](const StripedRegion& region) { return region.object_size == 0; });
}

bool StripeMap::knows_osts(const Extent& extent) const {
  return std::ranges::none_of(regions_, [&](const StripedRegion& region) {
    return region.osts.front() == unknown_ost && !intersection(region.extent, extent).empty();
  });
}

Extent StripeMap::object_extent(std::size_t region, std::int32_t slot, const Extent& file) const {
  const std::int64_t begin = object_bytes_before(regions_[region], slot, file.offset);
  return {begin, object_bytes_before(regions_[region], slot, file.end()) - begin};
}

}  // namespace nacre::plan
