#include "plan/domains/file_domains.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::plan {
namespace {

/// The first row of a share. Ranges of rows have equal length, or the later ranges one row more,
/// because the last row may be incomplete.
std::int64_t first_row(std::int64_t share, std::int64_t share_count, std::int64_t row_count) {
  return share * row_count / share_count;
}

/// The share that has a row, and the number of its rows before that row.
struct Turn {
  std::int64_t share;
  std::int64_t turn;
};

Turn turn_of(OstSharing sharing, std::int64_t share_count, std::int64_t row_count,
             std::int64_t row) {
  if (sharing == OstSharing::turns) return {row % share_count, row / share_count};
  const std::int64_t share = ((row + 1) * share_count - 1) / row_count;
  return {share, row - first_row(share, share_count, row_count)};
}

/// Each slot is a set.
std::vector<std::int32_t> single_slots(std::int32_t count) {
  std::vector<std::int32_t> sets(static_cast<std::size_t>(count));
  std::iota(sets.begin(), sets.end(), 0);
  return sets;
}

bool is_overstriped(std::vector<std::int32_t> osts) {
  std::ranges::sort(osts);
  return osts.front() >= 0 && std::ranges::adjacent_find(osts) != osts.end();
}

/// The set of each slot. Sets differ by at most one slot. Slots go to sets in turn, so that an
/// incomplete row is as even as possible; slots of one OST stay together if the file is
/// overstriped.
std::vector<std::int32_t> joined_slots(const StripedRegion& region, std::int32_t set_count) {
  std::vector<std::int32_t> order = single_slots(region.slot_count());
  std::vector<std::int32_t> sets(order.size());
  if (!is_overstriped(region.osts)) {
    for (const std::int32_t slot : order) {
      sets[static_cast<std::size_t>(slot)] = slot % set_count;
    }
    return sets;
  }
  std::ranges::stable_sort(
      order, {}, [&](std::int32_t slot) { return region.osts[static_cast<std::size_t>(slot)]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t set = checked_cast<std::int64_t>(i) * set_count / std::ssize(order);
    sets[static_cast<std::size_t>(order[i])] = checked_cast<std::int32_t>(set);
  }
  return sets;
}

}  // namespace

// ---- construction ----

FileDomains FileDomains::of_blocks(const Extent& range, std::int64_t block_bytes,
                                   std::int32_t count, std::int64_t cycle_bytes) {
  FileDomains domains(count, cycle_bytes);
  domains.add(range, block_bytes, range.offset, single_slots(count), OstSharing::turns);
  return domains;
}

FileDomains FileDomains::of_stripes(const Extent& range, const StripeMap& map, std::int32_t stripes,
                                    std::int32_t count, std::int64_t cycle_bytes) {
  FileDomains domains(count, cycle_bytes);
  for (const StripedRegion& region : map.regions()) {
    const Extent extent = intersection(region.extent, range);
    const std::int64_t block = region.stripe_size * stripes;
    domains.add(extent, block, round_down(extent.offset, block), single_slots(count),
                OstSharing::turns);
  }
  return domains;
}

FileDomains FileDomains::of_osts(const Extent& range, const StripeMap& map, const OstChoice& choice,
                                 std::int32_t count, std::int64_t cycle_bytes) {
  FileDomains domains(count, cycle_bytes);
  for (const StripedRegion& region : map.regions()) {
    const Extent extent = intersection(region.extent, range);
    const std::int32_t sets = std::min(
        count, checked_cast<std::int32_t>(divide_up(region.slot_count(), choice.slots_min)));
    domains.add(extent, region.stripe_size, round_down(extent.offset, region.row_bytes()),
                joined_slots(region, sets), choice.sharing);
  }
  return domains;
}

void FileDomains::add(const Extent& extent, std::int64_t unit_bytes, std::int64_t origin,
                      std::vector<std::int32_t> set_of_slot, OstSharing sharing) {
  if (extent.empty()) return;
  Region region{.extent = extent, .origin = origin, .unit_bytes = unit_bytes};
  region.sharing = sharing;
  const std::int32_t sets = std::ranges::max(set_of_slot) + 1;
  region.set_begins.resize(static_cast<std::size_t>(sets) + 1, 0);
  for (const std::int32_t set : set_of_slot) {
    region.place_in_set.push_back(region.set_begins[static_cast<std::size_t>(set) + 1]++);
  }
  std::partial_sum(region.set_begins.begin(), region.set_begins.end(), region.set_begins.begin());
  region.slots.resize(set_of_slot.size());
  for (std::size_t slot = 0; slot < set_of_slot.size(); ++slot) {
    const std::int32_t begin = region.set_begins[static_cast<std::size_t>(set_of_slot[slot])];
    const std::int64_t place = std::int64_t{begin} + region.place_in_set[slot];
    region.slots[static_cast<std::size_t>(place)] = checked_cast<std::int32_t>(slot);
  }
  region.set_of_slot = std::move(set_of_slot);
  region.row_count = divide_up(extent.end() - origin, region.row_bytes());
  region.units_per_round = std::max<std::int64_t>(1, cycle_bytes_ / unit_bytes);
  region.rounds_per_unit = divide_up(std::min(unit_bytes, extent.end() - origin), cycle_bytes_);
  region.rounds_before = round_count_;
  round_count_ += divide_up(most_units(region), region.units_per_round) * region.rounds_per_unit;
  round_bytes_max_ =
      std::max(round_bytes_max_, std::min(cycle_bytes_, region.units_per_round * unit_bytes));
  regions_.push_back(std::move(region));
}

// ---- queries ----

std::int64_t FileDomains::Rows::row(std::int64_t turn) const {
  if (sharing == OstSharing::turns) return turn * share_count + share;
  return first_row(share, share_count, row_count) + turn;
}

std::int64_t FileDomains::Rows::end() const {
  if (sharing == OstSharing::turns) return row_count;
  return first_row(share + 1, share_count, row_count);
}

std::int64_t FileDomains::Rows::count() const {
  if (sharing == OstSharing::ranges) return end() - row(0);
  return share < row_count ? divide_up(row_count - share, share_count) : 0;
}

std::int64_t FileDomains::Rows::next(std::int64_t row) const {
  if (sharing == OstSharing::ranges) return std::max(row, this->row(0));
  return row + (share - row % share_count + share_count) % share_count;
}

Extent FileDomains::Region::unit(std::int64_t row, std::int32_t slot) const {
  const std::int64_t begin = saturating_add(origin + row * row_bytes(),
                                            saturating_multiply<std::int64_t>(slot, unit_bytes));
  return {begin, std::clamp<std::int64_t>(extent.end() - begin, 0, unit_bytes)};
}

std::int32_t FileDomains::first_domain(const Region& region, std::int32_t set) const {
  return checked_cast<std::int32_t>(divide_up(std::int64_t{set} * count_, region.set_count()));
}

std::int32_t FileDomains::share_count(const Region& region, std::int32_t set) const {
  return first_domain(region, set + 1) - first_domain(region, set);
}

FileDomains::Member FileDomains::member_of(const Region& region, int domain) const {
  const auto set = checked_cast<std::int32_t>(std::int64_t{domain} * region.set_count() / count_);
  return {region.slots_of(set),
          {region.sharing, domain - first_domain(region, set), share_count(region, set),
           row_count_of(region, set)}};
}

std::int64_t FileDomains::row_count_of(const Region& region, std::int32_t set) const {
  const Extent in_last = region.unit(region.row_count - 1, region.slots_of(set).front());
  return in_last.offset < region.extent.end() ? region.row_count : region.row_count - 1;
}

std::int64_t FileDomains::most_units(const Region& region) const {
  std::int64_t most = 0;
  for (std::int32_t set = 0; set < region.set_count(); ++set) {
    const std::int64_t rows = divide_up(region.row_count, share_count(region, set));
    most = std::max(most, rows * std::ssize(region.slots_of(set)));
  }
  return most;
}

std::int64_t FileDomains::unit_count_of(const Region& region, int domain) const {
  const auto [slots, rows] = member_of(region, domain);
  const std::int64_t turns = rows.count();
  if (turns == 0) return 0;
  const std::int64_t last = rows.row(turns - 1);
  const auto behind = std::ranges::partition_point(
      slots, [&](std::int32_t slot) { return !region.unit(last, slot).empty(); });
  return (turns - 1) * std::ssize(slots) + (behind - slots.begin());
}

std::int64_t FileDomains::round_count_of(int domain) const {
  for (const Region& region : std::views::reverse(regions_)) {
    const std::int64_t units = unit_count_of(region, domain);
    if (units == 0) continue;
    return region.rounds_before + divide_up(units, region.units_per_round) * region.rounds_per_unit;
  }
  return 0;
}

std::size_t FileDomains::region_at(std::int64_t offset) const {
  const auto after = std::ranges::upper_bound(
      regions_, offset, {}, [](const Region& region) { return region.extent.offset; });
  return static_cast<std::size_t>(after - regions_.begin()) - 1;
}

FileDomains::UnitPlace FileDomains::unit_at(std::int64_t offset) const {
  const Region& region = regions_[region_at(offset)];
  const std::int64_t row = (offset - region.origin) / region.row_bytes();
  const std::int64_t into_row = (offset - region.origin) % region.row_bytes();
  return {region, row, checked_cast<std::int32_t>(into_row / region.unit_bytes)};
}

DomainPlace FileDomains::place_of(std::int64_t offset) const {
  const auto [region, row, slot] = unit_at(offset);
  const std::int32_t set = region.set_of_slot[static_cast<std::size_t>(slot)];
  const std::int32_t first = first_domain(region, set);
  const Turn turn =
      turn_of(region.sharing, share_count(region, set), row_count_of(region, set), row);
  const std::int64_t unit = turn.turn * std::ssize(region.slots_of(set)) +
                            region.place_in_set[static_cast<std::size_t>(slot)];
  const Extent whole = region.unit(row, slot);
  const std::int64_t part = (offset - whole.offset) / cycle_bytes_;

  DomainPlace place;
  place.domain = checked_cast<int>(first + turn.share);
  place.round =
      region.rounds_before + unit / region.units_per_round * region.rounds_per_unit + part;
  const std::int64_t begin = whole.offset + part * cycle_bytes_;
  const Extent cut{begin, std::min(cycle_bytes_, whole.end() - begin)};  // not empty
  place.part.file = intersection(cut, region.extent);
  place.part.place =
      unit % region.units_per_round * region.unit_bytes + (place.part.file.offset - begin);
  return place;
}

std::optional<std::int64_t> FileDomains::next_in(const Region& region, int domain,
                                                 std::int64_t offset) const {
  const auto [slots, rows] = member_of(region, domain);
  const std::int64_t here = (offset - region.origin) / region.row_bytes();
  std::int64_t row = rows.next(here);
  auto slot = slots.begin();
  if (row == here) {
    const std::int64_t into_row = (offset - region.origin) % region.row_bytes();
    slot = std::ranges::lower_bound(slots, into_row / region.unit_bytes);
    if (slot == slots.end()) {
      row = rows.next(here + 1);
      slot = slots.begin();
    }
  }
  if (row >= rows.end()) return std::nullopt;
  const std::int64_t found = std::max(offset, region.unit(row, *slot).offset);
  if (found >= region.extent.end()) return std::nullopt;
  return found;
}

std::optional<std::int64_t> FileDomains::next_of(int domain, std::int64_t offset) const {
  for (std::size_t i = region_at(offset); i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    const auto found = next_in(region, domain, std::max(offset, region.extent.offset));
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<Extent> FileDomains::ranges_of(int domain, std::int32_t blocks_max) const {
  std::vector<Extent> ranges;
  std::int64_t offset = range().offset;
  for (std::int32_t block = 0; block < blocks_max && offset < range().end(); ++block) {
    const std::optional<std::int64_t> begin = next_of(domain, offset);
    if (!begin) break;
    offset = unit_at(*begin).extent().end();
    if (!ranges.empty() && ranges.back().end() == *begin) {
      ranges.back().length = offset - ranges.back().offset;
    } else {
      ranges.push_back({*begin, offset - *begin});
    }
  }
  return ranges;
}

void FileDomains::round_parts(int domain, std::int64_t round, std::vector<FilePart>& parts) const {
  parts.clear();
  const auto after = std::ranges::upper_bound(
      regions_, round, {}, [](const Region& region) { return region.rounds_before; });
  if (round >= round_count_) return;
  const Region& region = *std::prev(after);
  const auto [slots, rows] = member_of(region, domain);
  const std::int64_t index = round - region.rounds_before;
  const std::int64_t part = index % region.rounds_per_unit * cycle_bytes_;
  const std::int64_t first = index / region.rounds_per_unit * region.units_per_round;
  for (std::int64_t i = 0; i < region.units_per_round; ++i) {
    const std::int64_t row = rows.row((first + i) / std::ssize(slots));
    if (row >= rows.end()) return;
    const auto in_set = static_cast<std::size_t>((first + i) % std::ssize(slots));
    const Extent unit = region.unit(row, slots[in_set]);
    if (part >= unit.length) continue;
    const Extent cut{unit.offset + part, std::min(cycle_bytes_, unit.length - part)};
    const Extent file = intersection(cut, region.extent);
    if (file.empty()) continue;
    const std::int64_t place = i * region.unit_bytes + file.offset - cut.offset;
    if (!parts.empty() && parts.back().file.end() == file.offset &&
        parts.back().place + parts.back().file.length == place) {
      parts.back().file.length += file.length;
    } else {
      parts.push_back({file, place});
    }
  }
}

}  // namespace nacre::plan
