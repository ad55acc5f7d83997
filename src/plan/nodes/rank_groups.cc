#include "plan/nodes/rank_groups.h"

#include <algorithm>

namespace nacre::plan {
namespace {

/// The index of each of the numbers 0..order.size()-1.
Progressions places_in(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> places(order.size());
  std::int32_t place = 0;
  for (const std::int32_t rank : order) places[static_cast<std::size_t>(rank)] = place++;
  return Progressions(places);
}

}  // namespace

RankGroups::RankGroups(std::span<const std::int32_t> order, std::span<const std::int32_t> begins)
    : order_(order), places_(places_in(order)), begins_(begins) {}

int RankGroups::size_of(int group) const {
  const int end = group + 1 < count() ? begins_.at(group + 1) : rank_count();
  return end - begins_.at(group);
}

int RankGroups::size_max() const {
  return count() == 0 ? 0 : std::max(begins_.step_max(), size_of(count() - 1));
}

int RankGroups::rank_at(int group, int place) const { return order_.at(begins_.at(group) + place); }

int RankGroups::place_of(int rank) const { return places_.at(rank) - begins_.at(group_of(rank)); }

std::vector<std::byte> RankGroups::serialized() const {
  std::vector<std::byte> bytes;
  order_.encode(bytes);
  places_.encode(bytes);
  begins_.encode(bytes);
  return bytes;
}

RankGroups RankGroups::deserialized(std::span<const std::byte> bytes) {
  RankGroups groups;
  groups.order_ = Progressions::decode(bytes);
  groups.places_ = Progressions::decode(bytes);
  groups.begins_ = Progressions::decode(bytes);
  return groups;
}

}  // namespace nacre::plan
