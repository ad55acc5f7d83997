#include "plan/nodes/aggregators.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nacre::plan {

Aggregators::Aggregators(int count, int sets, const NodeMap* nodes,
                         std::shared_ptr<const RankGroups> groups)
    : count_(count), sets_(sets), nodes_(nodes), groups_(std::move(groups)) {}

Aggregators Aggregators::over_nodes(int count, int sets, const NodeMap& nodes) {
  Aggregators aggregators(count, sets > 0 ? sets : count, &nodes, nullptr);
  if (aggregators.set_size() > 1) aggregators.keep_sets_on_nodes();
  return aggregators;
}

Aggregators Aggregators::of_groups(std::shared_ptr<const RankGroups> groups) {
  const int count = groups->count();
  return {count, count, nullptr, std::move(groups)};
}

/// Does nothing if the nodes have no room for all sets.
void Aggregators::keep_sets_on_nodes() {
  const std::vector<int> ends = nodes_->node_ends();
  std::int64_t room = 0;  // sets
  int begin = 0;
  for (const int end : ends) room += (end - std::exchange(begin, end)) / set_size();
  if (room < sets_) return;
  std::int64_t before = 0;  // room for sets on the nodes before this one
  begin = 0;
  for (const int end : ends) {
    const std::int64_t behind = before + (end - begin) / set_size();
    for (std::int64_t set = std::ssize(first_places_); set < sets_; ++set) {
      const std::int64_t slot = set * room / sets_;
      if (slot >= behind) break;
      first_places_.push_back(begin + static_cast<int>(slot - before) * set_size());
    }
    before = behind;
    begin = end;
  }
}

/// The place of the first aggregator of a set; the others follow it. Sets of one aggregator take
/// another place of each share of the ranks, because launchers assign ranks to sockets and cores in
/// turn: with every second rank, all aggregators would run on one of two sockets.
int Aggregators::first_place(int set) const {
  if (!first_places_.empty()) return first_places_[static_cast<std::size_t>(set)];
  const int ranks = nodes_->rank_count();
  const int step = set_size() == 1 ? set % (ranks / sets_) : 0;
  return static_cast<int>(std::int64_t{set} * ranks / sets_) + step;
}

/// The only set that may have an aggregator at `place`; -1: none.
int Aggregators::set_at(int place) const {
  if (first_places_.empty()) {
    return static_cast<int>(((std::int64_t{place} + 1) * sets_ - 1) / nodes_->rank_count());
  }
  const auto behind = std::ranges::upper_bound(first_places_, place);
  return static_cast<int>(behind - first_places_.begin()) - 1;
}

int Aggregators::rank_of(int aggregator) const {
  if (groups_ != nullptr) return groups_->rank_at(aggregator, 0);
  return nodes_->rank_at(first_place(aggregator / set_size()) + aggregator % set_size());
}

std::optional<int> Aggregators::of_rank(int rank) const {
  if (groups_ != nullptr) {
    const int group = groups_->group_of(rank);
    if (rank_of(group) != rank) return std::nullopt;
    return group;
  }
  const int place = nodes_->place_of(rank);
  const int set = set_at(place);
  const int member = set < 0 ? -1 : place - first_place(set);
  if (member < 0 || member >= set_size()) return std::nullopt;
  return set * set_size() + member;
}

bool Aggregators::serves(int aggregator, int rank) const {
  return groups_ == nullptr || groups_->group_of(rank) == aggregator;
}

}  // namespace nacre::plan
