#include "plan/nodes/node_map.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
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
  map.find_places();
  return map;
}

void NodeMap::find_places() {
  by_place_.resize(pieces_.size());
  std::iota(by_place_.begin(), by_place_.end(), 0);
  const auto node_of_piece = [&](std::int32_t piece) {
    return pieces_[static_cast<std::size_t>(piece)].node;
  };
  std::ranges::stable_sort(by_place_, {}, node_of_piece);
  std::int32_t place = 0;
  for (const std::int32_t number : by_place_) {
    const auto piece = static_cast<std::size_t>(number);
    pieces_[piece].first_place = place;
    place += end_of(piece) - pieces_[piece].first_rank;
  }
}

/// The rank after the last rank of the piece.
std::int32_t NodeMap::end_of(std::size_t piece) const {
  return piece + 1 < pieces_.size() ? pieces_[piece + 1].first_rank : rank_count_;
}

const NodeMap::Piece& NodeMap::piece_of(int rank) const {
  return *std::prev(std::ranges::upper_bound(pieces_, rank, {}, &Piece::first_rank));
}

/// An iterator after the piece that has the place.
std::vector<std::int32_t>::const_iterator NodeMap::behind(int place) const {
  return std::ranges::upper_bound(by_place_, place, {}, [&](std::int32_t number) {
    return pieces_[static_cast<std::size_t>(number)].first_place;
  });
}

int NodeMap::rank_at(int place) const {
  const Piece& piece = pieces_[static_cast<std::size_t>(*std::prev(behind(place)))];
  return piece.first_rank + place - piece.first_place;
}

std::vector<int> NodeMap::node_ends() const {
  std::vector<int> ends(static_cast<std::size_t>(node_count_));
  for (const std::int32_t number : by_place_) {
    const auto piece = static_cast<std::size_t>(number);
    ends[static_cast<std::size_t>(pieces_[piece].node)] =
        pieces_[piece].first_place + end_of(piece) - pieces_[piece].first_rank;
  }
  return ends;
}

int NodeMap::place_of(int rank) const {
  const Piece& piece = piece_of(rank);
  return piece.first_place + rank - piece.first_rank;
}

void NodeMap::add(int rank_count, int node) {
  if (pieces_.empty() || pieces_.back().node != node) pieces_.push_back({rank_count_, node});
  rank_count_ += rank_count;
}

int NodeMap::node_of(int rank) const { return piece_of(rank).node; }

int NodeMap::lowest_rank_on(int node) const {
  return std::ranges::find(pieces_, node, &Piece::node)->first_rank;
}

std::vector<int> NodeMap::ranks_on(int node) const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].node != node) continue;
    for (int rank = pieces_[i].first_rank; rank < end_of(i); ++rank) ranks.push_back(rank);
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
  map.find_places();
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
