#include "plan/aggregators.h"

#include <cstdint>
#include <utility>

namespace nacre::plan {

Aggregators::Aggregators(int count, int sets, const NodeMap* nodes,
                         std::shared_ptr<const RankGroups> groups)
    : count_(count), sets_(sets), nodes_(nodes), groups_(std::move(groups)) {}

Aggregators Aggregators::spread(int count, int sets, const NodeMap& nodes) {
  return {count, sets > 0 ? sets : count, &nodes, nullptr};
}

Aggregators Aggregators::of_groups(std::shared_ptr<const RankGroups> groups) {
  const int count = groups->count();
  return {count, count, nullptr, std::move(groups)};
}

/// Its members follow each other from there on. Each set has a range of places; where the node at
/// its beginning has too few of them, it is the next node's turn.
int Aggregators::first_place(int set) const {
  const auto begin_of = [&](int number) {
    return static_cast<int>(std::int64_t{number} * nodes_->rank_count() / sets_);
  };
  const int begin = begin_of(set);
  if (set == 0 || set_size() == 1) return begin;
  const int node_end = nodes_->node_end(begin);
  const bool fits = node_end - begin >= set_size();
  return fits || begin_of(set + 1) - node_end < set_size() ? begin : node_end;
}

int Aggregators::rank_of(int aggregator) const {
  if (groups_ != nullptr) return groups_->members(aggregator).front();
  return nodes_->rank_at(first_place(aggregator / set_size()) + aggregator % set_size());
}

std::optional<int> Aggregators::of_rank(int rank) const {
  if (groups_ != nullptr) {
    const int group = groups_->group_of(rank);
    if (rank_of(group) != rank) return std::nullopt;
    return group;
  }
  const int place = nodes_->place_of(rank);
  const int set = static_cast<int>(((std::int64_t{place} + 1) * sets_ - 1) / nodes_->rank_count());
  const int member = place - first_place(set);
  if (member < 0 || member >= set_size()) return std::nullopt;
  return set * set_size() + member;
}

bool Aggregators::serves(int aggregator, int rank) const {
  return groups_ == nullptr || groups_->group_of(rank) == aggregator;
}

}  // namespace nacre::plan
