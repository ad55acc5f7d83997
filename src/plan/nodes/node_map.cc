#include "plan/nodes/node_map.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {

NodeMap NodeMap::singles(int rank_count) {
  const Run run{0, rank_count};
  return from_runs({&run, 1});
}

NodeMap NodeMap::from_runs(std::span<const Run> runs) {
  NodeMap map;
  std::unordered_map<std::uint64_t, int> nodes;
  for (const Run& run : runs) {
    if (run.domain == 0) {
      for (std::int64_t i = 0; i < run.rank_count; ++i) map.add(1, map.node_count_++);
      continue;
    }
    const auto [found, is_new] = nodes.try_emplace(run.domain, map.node_count_);
    if (is_new) ++map.node_count_;
    map.add(checked_cast<int>(run.rank_count), found->second);
  }
  map.find_places();
  return map;
}

/// The numbers of the runs in the order of their nodes; runs of one node in their own order.
std::vector<std::int32_t> NodeMap::runs_in_order() const {
  std::vector<std::int32_t> order(static_cast<std::size_t>(nodes_.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t run) { return nodes_.at(run); });
  return order;
}

void NodeMap::find_places() {
  const std::vector<std::int32_t> order = runs_in_order();
  std::vector<std::int32_t> places(order.size());
  std::int32_t place = 0;
  std::int32_t node = -1;
  for (const std::int32_t run : order) {
    if (std::exchange(node, nodes_.at(run)) != node) node_begins_.add(runs_by_place_.size());
    runs_by_place_.add(run);
    places_in_order_.add(place);
    places[static_cast<std::size_t>(run)] = place;
    const int end = run + 1 < first_ranks_.size() ? first_ranks_.at(run + 1) : rank_count_;
    place += end - first_ranks_.at(run);
  }
  places_ = Progressions(places);
}

int NodeMap::end_of(int node) const {
  return node + 1 < node_count_ ? places_in_order_.at(node_begins_.at(node + 1)) : rank_count_;
}

int NodeMap::rank_at(int place) const {
  const int index = places_in_order_.count_up_to(place) - 1;
  return first_ranks_.at(runs_by_place_.at(index)) + place - places_in_order_.at(index);
}

std::vector<int> NodeMap::node_ends() const {
  std::vector<int> ends;
  ends.reserve(static_cast<std::size_t>(node_count_));
  for (int node = 0; node < node_count_; ++node) ends.push_back(end_of(node));
  return ends;
}

int NodeMap::place_of(int rank) const {
  const int run = run_of(rank);
  return places_.at(run) + rank - first_ranks_.at(run);
}

void NodeMap::add(int rank_count, int node) {
  if (nodes_.size() == 0 || nodes_.at(nodes_.size() - 1) != node) {
    first_ranks_.add(rank_count_);
    nodes_.add(node);
  }
  rank_count_ += rank_count;
}

int NodeMap::node_of(int rank) const { return nodes_.at(run_of(rank)); }

int NodeMap::lowest_rank_on(int node) const {
  return first_ranks_.at(runs_by_place_.at(node_begins_.at(node)));
}

std::vector<int> NodeMap::ranks_on(int node) const {
  std::vector<int> ranks;
  const int end = end_of(node);
  int index = node_begins_.at(node);
  for (int place = places_in_order_.at(index); place < end; ++index) {
    const int behind = index + 1 < places_in_order_.size() ? places_in_order_.at(index + 1) : end;
    const int first_rank = first_ranks_.at(runs_by_place_.at(index));
    for (int i = 0; i < behind - place; ++i) ranks.push_back(first_rank + i);
    place = behind;
  }
  return ranks;
}

std::vector<std::byte> NodeMap::serialized() const {
  const std::array<std::int32_t, 2> counts{rank_count_, node_count_};
  const auto count_bytes = std::as_bytes(std::span(counts));
  std::vector<std::byte> bytes(count_bytes.begin(), count_bytes.end());
  for (const Progressions* list :
       {&first_ranks_, &nodes_, &places_, &runs_by_place_, &places_in_order_, &node_begins_}) {
    list->encode(bytes);
  }
  return bytes;
}

NodeMap NodeMap::deserialized(std::span<const std::byte> bytes) {
  std::array<std::int32_t, 2> counts{};
  std::memcpy(counts.data(), bytes.data(), sizeof counts);
  bytes = bytes.subspan(sizeof counts);
  NodeMap map;
  map.rank_count_ = counts[0];
  map.node_count_ = counts[1];
  for (Progressions* list : {&map.first_ranks_, &map.nodes_, &map.places_, &map.runs_by_place_,
                             &map.places_in_order_, &map.node_begins_}) {
    *list = Progressions::decode(bytes);
  }
  return map;
}

void append_runs(std::vector<NodeMap::Run>& into, std::span<const NodeMap::Run> runs) {
  for (const NodeMap::Run& run : runs) {
    if (!into.empty() && into.back().domain == run.domain) {
      into.back().rank_count += run.rank_count;
    } else {
      into.push_back(run);
    }
  }
}

}  // namespace nacre::plan
