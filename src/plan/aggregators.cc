#include "plan/aggregators.h"

#include <cstdint>
#include <utility>

#include "base/rounding.h"

namespace nacre::plan {

Aggregators::Aggregators(int count, const NodeMap* nodes, std::shared_ptr<const RankGroups> groups)
    : count_(count), nodes_(nodes), groups_(std::move(groups)) {}

Aggregators Aggregators::spread(int count, const NodeMap& nodes) {
  return {count, &nodes, nullptr};
}

Aggregators Aggregators::of_groups(std::shared_ptr<const RankGroups> groups) {
  const int count = groups->count();
  return {count, nullptr, std::move(groups)};
}

int Aggregators::rank_of(int aggregator) const {
  if (groups_ != nullptr) return groups_->members(aggregator).front();
  const std::int64_t place = std::int64_t{aggregator} * nodes_->rank_count() / count_;
  return nodes_->rank_at(static_cast<int>(place));
}

std::optional<int> Aggregators::of_rank(int rank) const {
  int candidate = 0;
  if (groups_ != nullptr) {
    candidate = groups_->group_of(rank);
  } else {
    // The first one at its place or behind it.
    const std::int64_t places = std::int64_t{nodes_->place_of(rank)} * count_;
    candidate = static_cast<int>(divide_up(places, nodes_->rank_count()));
  }
  if (candidate >= count_ || rank_of(candidate) != rank) return std::nullopt;
  return candidate;
}

bool Aggregators::serves(int aggregator, int rank) const {
  return groups_ == nullptr || groups_->group_of(rank) == aggregator;
}

}  // namespace nacre::plan
