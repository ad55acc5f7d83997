#include <algorithm>
#include <array>
#include <utility>

#include "sim/workload/applications.h"
#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

constexpr int guard_cells = 4;
constexpr int variables = 24;
constexpr std::int64_t blocks_max = 80;

/// The blocks of one rank. In the file, the rank has `blocks` consecutive blocks of each variable.
struct Blocks {
  Blocks(const Geometry& geometry, int cells_an_edge)
      : rank(geometry.rank),
        ranks(geometry.ranks),
        edge(cells_an_edge),
        block_cells(std::int64_t{edge} * edge * edge) {
    const std::int64_t block_bytes = block_cells * variables * std::int64_t{sizeof(double)};
    blocks =
        std::clamp<std::int64_t>(geometry.bytes / (geometry.ranks * block_bytes), 1, blocks_max);
    // The inner cells of the first variable in all blocks, without the guard cells.
    const int edge_in_memory = edge + 2 * guard_cells;
    const auto count = static_cast<int>(blocks);
    memory.element = sizeof(double);
    memory.array = {count, edge_in_memory, edge_in_memory, edge_in_memory, variables};
    memory.start = {0, guard_cells, guard_cells, guard_cells, 0};
    memory.extent = {count, edge, edge, edge, 1};
  }

  [[nodiscard]] std::int64_t share_bytes() const {
    return blocks * block_cells * std::int64_t{sizeof(double)};
  }

  [[nodiscard]] static std::size_t buffer_offset(int variable) {
    return size(variable) * sizeof(double);
  }

  /// Visits cell by cell, because no two cells of a variable are adjacent in memory.
  void visit_runs(const RunVisitor& visit) const {
    const std::int64_t cells = blocks * block_cells;
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::int64_t in_memory = memory.row_offset(cell);
      for (int variable = 0; variable < variables; ++variable) {
        const std::int64_t part = std::int64_t{variable} * ranks + rank;
        visit({part * share_bytes() + cell * std::int64_t{sizeof(double)},
               size(in_memory) + buffer_offset(variable), sizeof(double)});
      }
    }
  }

  std::int64_t rank;
  std::int64_t ranks;
  int edge;
  std::int64_t block_cells;
  std::int64_t blocks = 1;
  Block<5> memory;
};

Access checkpoint(const Blocks& blocks) {
  Access result;
  result.buffer_bytes = size(Block<5>::count(blocks.memory.array) * blocks.memory.element);
  result.file_bytes = blocks.share_bytes() * blocks.ranks * variables;
  result.runs = [blocks](const RunVisitor& visit) { blocks.visit_runs(visit); };
  const auto etype = Datatype::real();
  const Datatype memory = blocks.memory.subarray(etype, in_c_order);
  for (int variable = 0; variable < variables; ++variable) {
    Step step;
    step.displacement = variable * blocks.ranks * blocks.share_bytes();
    step.etype = step.filetype = etype;
    step.memory = memory;
    step.transfers.push_back(
        {blocks.rank * blocks.blocks * blocks.block_cells, Blocks::buffer_offset(variable), 1});
    result.steps.push_back(std::move(step));
  }
  return result;
}

}  // namespace

Access flash(const Geometry& geometry) { return checkpoint({geometry, 16}); }
Access flash8(const Geometry& geometry) { return checkpoint({geometry, 8}); }

}  // namespace nacre::workload
