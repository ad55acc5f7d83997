// RankPlacement: where in a file each rank begins, from the places of some ranks.
#ifndef NACRE_SIM_PROGRAM_RANK_PLACEMENT_H_
#define NACRE_SIM_PROGRAM_RANK_PLACEMENT_H_

#include <cstdint>
#include <span>
#include <vector>

namespace nacre::sim {

/// Finds the regular arrangement of ranks that fits the samples: a grid of up to four dimensions,
/// rank 0 first and the first dimension fastest, in which a step along a dimension moves the begin
/// by a constant distance. Without such a grid, ranks between two samples lie on a line.
class RankPlacement {
 public:
  struct Sample {
    int rank = 0;
    std::int64_t begin = 0;
  };
  /// `samples`: at least one, by ascending rank. Rank 0, the powers of two and the last rank show
  /// any grid.
  RankPlacement(int rank_count, std::vector<Sample> samples);

  /// Exact for the samples, and for all ranks if they are arranged in a grid.
  [[nodiscard]] std::int64_t begin_of(int rank) const;
  /// The sample with the highest rank that is not above `rank`, as an index; 0 if there is none.
  [[nodiscard]] std::size_t sample_before(int rank) const;
  [[nodiscard]] bool is_grid() const { return is_grid_; }

 private:
  struct Dimension {
    int length = 1;
    std::int64_t stride = 0;
  };
  using Grid = std::vector<Dimension>;

  void try_grids(int left, std::size_t dimensions, Grid& grid);
  void try_grid(Grid grid);
  [[nodiscard]] static std::int64_t offset_in(const Grid& grid, int rank);
  [[nodiscard]] bool solve(Grid& grid) const;
  [[nodiscard]] std::int64_t error_of(const Grid& grid) const;

  std::vector<Sample> samples_;
  Grid grid_;  // with the smallest error
  std::int64_t error_ = 0;
  bool is_grid_ = false;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_PROGRAM_RANK_PLACEMENT_H_
