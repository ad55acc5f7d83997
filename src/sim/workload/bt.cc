#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/workload/applications.h"
#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

constexpr std::int64_t cell_bytes = 5 * sizeof(double);
constexpr int ghosts = 2;

/// One block of a rank: its place in the grid, its place in memory, and the offset of that memory
/// in the buffer.
struct Part {
  Block<3> grid;
  Block<3> memory;
  std::int64_t buffer_offset = 0;
};

/// Block `c` of a rank lies at x = column + c, y = row - c, z = c, all modulo the edge of the
/// square of ranks. Every block has the memory of the largest block.
std::vector<Part> parts_of(const Geometry& geometry, int grid_edge, int square_edge) {
  const int column = geometry.rank % square_edge;
  const int row = geometry.rank / square_edge;
  const int room = (grid_edge + square_edge - 1) / square_edge + 2 * ghosts;
  std::vector<Part> parts;
  for (int c = 0; c < square_edge; ++c) {
    Part part;
    part.grid.element = part.memory.element = cell_bytes;
    part.grid.array.fill(grid_edge);
    part.grid.deal(0, c, square_edge);
    part.grid.deal(1, (row + square_edge - c) % square_edge, square_edge);
    part.grid.deal(2, (column + c) % square_edge, square_edge);
    part.memory.array.fill(room);
    part.memory.start.fill(ghosts);
    part.memory.extent = part.grid.extent;
    part.buffer_offset = c * Block<3>::count(part.memory.array) * cell_bytes;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

Access bt(const Geometry& geometry) {
  const auto square_edge = static_cast<int>(std::lround(std::sqrt(geometry.ranks)));
  const double cells = static_cast<double>(geometry.bytes) / cell_bytes;
  const int grid_edge = std::max(square_edge, static_cast<int>(std::lround(std::cbrt(cells))));
  const std::vector<Part> parts = parts_of(geometry, grid_edge, square_edge);

  Step step;
  step.etype = Datatype::contiguous(5, Datatype::real());
  std::vector<Datatype> in_file;
  std::vector<Datatype> in_memory;
  std::vector<std::int64_t> buffer_offsets;
  for (const Part& part : parts) {
    in_file.push_back(part.grid.subarray(step.etype, in_fortran_order));
    in_memory.push_back(part.memory.subarray(step.etype, in_fortran_order));
    buffer_offsets.push_back(part.buffer_offset);
  }
  step.filetype = Datatype::structure(in_file, std::vector<std::int64_t>(parts.size(), 0));
  step.memory = Datatype::structure(in_memory, buffer_offsets);
  step.transfers.push_back({0, 0, 1});

  Access result;
  result.buffer_bytes =
      parts.size() * size(Block<3>::count(parts.front().memory.array) * cell_bytes);
  result.file_bytes = Block<3>::count(parts.front().grid.array) * cell_bytes;
  result.runs = [parts](const RunVisitor& visit) {
    for (const Part& part : parts) {
      for (std::int64_t row = 0; row < part.grid.rows(); ++row) {
        visit({part.grid.row_offset(row), size(part.buffer_offset + part.memory.row_offset(row)),
               size(part.grid.row_bytes())});
      }
    }
  };
  result.steps.push_back(std::move(step));
  return result;
}

}  // namespace nacre::workload
