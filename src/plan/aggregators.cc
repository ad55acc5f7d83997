#include "plan/aggregators.h"

#include <cstdint>
#include <utility>

#include "base/rounding.h"

namespace nacre::plan {

Aggregators::Aggregators(int count, int rank_count, std::shared_ptr<const RankGroups> groups)
    : count_(count), rank_count_(rank_count), groups_(std::move(groups)) {}

Aggregators Aggregators::spread(int count, int rank_count) { return {count, rank_count, nullptr}; }

Aggregators Aggregators::of_groups(std::shared_ptr<const RankGroups> groups) {
  const int count = groups->count();
  const int rank_count = groups->rank_count();
  return {count, rank_count, std::move(groups)};
}

int Aggregators::rank_of(int aggregator) const {
  if (groups_ != nullptr) return groups_->members(aggregator).front();
  return static_cast<int>(std::int64_t{aggregator} * rank_count_ / count_);
}

std::optional<int> Aggregators::of_rank(int rank) const {
  // Spread: the first one at or behind it.
  const std::int64_t first = divide_up(std::int64_t{rank} * count_, rank_count_);
  const int candidate = groups_ != nullptr ? groups_->group_of(rank) : static_cast<int>(first);
  if (candidate >= count_ || rank_of(candidate) != rank) return std::nullopt;
  return candidate;
}

bool Aggregators::serves(int aggregator, int rank) const {
  return groups_ == nullptr || groups_->group_of(rank) == aggregator;
}

}  // namespace nacre::plan
