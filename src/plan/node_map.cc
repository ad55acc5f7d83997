#include "plan/node_map.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

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
  return map;
}

void NodeMap::add(int rank_count, int node) {
  if (pieces_.empty() || pieces_.back().node != node) pieces_.push_back({rank_count_, node});
  rank_count_ += rank_count;
}

int NodeMap::node_of(int rank) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), rank,
                       [](int wanted, const Piece& piece) { return wanted < piece.first_rank; });
  return std::prev(after)->node;
}

int NodeMap::lowest_rank_on(int node) const {
  return std::ranges::find(pieces_, node, &Piece::node)->first_rank;
}

std::vector<int> NodeMap::ranks_on(int node) const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].node != node) continue;
    const int end = i + 1 < pieces_.size() ? pieces_[i + 1].first_rank : rank_count_;
    for (int rank = pieces_[i].first_rank; rank < end; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<std::byte> NodeMap::serialized() const {
  std::vector<std::int32_t> numbers{rank_count_, node_count_};
  for (const Piece& piece : pieces_) {
    numbers.push_back(piece.first_rank);
    numbers.push_back(piece.node);
  }
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

NodeMap NodeMap::deserialized(std::span<const std::byte> bytes) {
  std::vector<std::int32_t> numbers(bytes.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int32_t));
  NodeMap map;
  map.rank_count_ = numbers[0];
  map.node_count_ = numbers[1];
  for (std::size_t i = 2; i < numbers.size(); i += 2) {
    map.pieces_.push_back({numbers[i], numbers[i + 1]});
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
