#include "sim/program/rank_placement.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace nacre::sim {
namespace {

constexpr std::size_t dimensions_max = 4;
constexpr std::int64_t no_error_yet = std::numeric_limits<std::int64_t>::max();

}  // namespace

RankPlacement::RankPlacement(int rank_count, std::vector<Sample> samples)
    : samples_(std::move(samples)), error_(no_error_yet) {
  if (samples_.front().rank == 0 && rank_count > 1) {
    for (std::size_t count = 1; count <= dimensions_max && error_ > 0; ++count) {
      Grid grid;
      try_grids(rank_count, count, grid);
    }
  }
  // Blocks of an array that the grid does not divide evenly differ by a row or a plane.
  std::int64_t longest = 0;
  for (const Dimension& one : grid_) longest = std::max(longest, std::abs(one.stride));
  is_grid_ = samples_.size() > 1 && error_ <= longest / 4;
}

/// Tries the grids that begin with `grid` and have `dimensions` more for `left` times the ranks.
void RankPlacement::try_grids(int left, std::size_t dimensions, Grid& grid) {
  if (dimensions == 1) {
    if (left == 1) return;
    grid.push_back({left, 0});
    try_grid(grid);
    grid.pop_back();
    return;
  }
  for (int length = 2; length <= left / 2; ++length) {
    if (left % length != 0) continue;
    grid.push_back({length, 0});
    try_grids(left / length, dimensions - 1, grid);
    grid.pop_back();
  }
}

void RankPlacement::try_grid(Grid grid) {
  if (!solve(grid)) return;
  const std::int64_t error = error_of(grid);
  if (error >= error_) return;
  error_ = error;
  grid_ = std::move(grid);
}

/// Sets the strides from the first samples that show them. A sample shows the stride of the slowest
/// dimension in which it is not at 0, if it shows those before.
bool RankPlacement::solve(Grid& grid) const {
  std::size_t known = 0;
  std::int64_t ranks_of_known = 1;
  for (const Sample& sample : samples_) {
    if (known == grid.size()) break;
    if (sample.rank < ranks_of_known) continue;
    Dimension& next = grid[known];
    const std::int64_t steps = sample.rank / ranks_of_known;
    if (steps >= next.length) return false;
    next.stride = (sample.begin - samples_.front().begin - offset_in(grid, sample.rank)) / steps;
    ranks_of_known *= next.length;
    ++known;
  }
  return known == grid.size();
}

std::int64_t RankPlacement::offset_in(const Grid& grid, int rank) {
  std::int64_t offset = 0;
  for (const Dimension& one : grid) {
    offset += one.stride * (rank % one.length);
    rank /= one.length;
  }
  return offset;
}

std::int64_t RankPlacement::error_of(const Grid& grid) const {
  std::int64_t most = 0;
  for (const Sample& sample : samples_) {
    const std::int64_t found = samples_.front().begin + offset_in(grid, sample.rank);
    most = std::max(most, std::abs(found - sample.begin));
  }
  return most;
}

std::size_t RankPlacement::sample_before(int rank) const {
  const auto behind = std::ranges::upper_bound(samples_, rank, {}, &Sample::rank);
  return behind == samples_.begin() ? 0 : static_cast<std::size_t>(behind - samples_.begin()) - 1;
}

std::int64_t RankPlacement::begin_of(int rank) const {
  const std::size_t before = sample_before(rank);
  const Sample& from = samples_[before];
  if (is_grid_) return from.begin + offset_in(grid_, rank) - offset_in(grid_, from.rank);
  if (before + 1 >= samples_.size() || rank <= from.rank) return from.begin;
  const Sample& to = samples_[before + 1];
  const double share = static_cast<double>(rank - from.rank) / (to.rank - from.rank);
  return from.begin + static_cast<std::int64_t>(share * static_cast<double>(to.begin - from.begin));
}

}  // namespace nacre::sim
