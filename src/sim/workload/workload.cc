#include "sim/workload/workload.h"

#include <algorithm>
#include <array>

#include "sim/workload/applications.h"
#include "sim/workload/lattice.h"
#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t ior_hard_block = 47008;

/// Blocks dealt to P ranks round robin. One block of each rank forms a row.
struct RoundRobin {
  /// Blocks of the same size: rank r has blocks r, r + P, r + 2P...
  RoundRobin(const Geometry& geometry, std::int64_t block_bytes)
      : RoundRobin(geometry, geometry.rank * block_bytes, block_bytes,
                   geometry.ranks * block_bytes) {}

  /// The block of this rank starts `begin_bytes` after the start of a row of `row_bytes`.
  RoundRobin(const Geometry& geometry, std::int64_t begin_bytes, std::int64_t block_bytes,
             std::int64_t row_bytes)
      : rank(geometry.rank),
        ranks(geometry.ranks),
        begin(begin_bytes),
        block(block_bytes),
        row(row_bytes),
        blocks(std::max<std::int64_t>(1, geometry.bytes / row_bytes)) {}

  [[nodiscard]] std::int64_t file_offset(std::int64_t i) const { return i * row + begin; }

  [[nodiscard]] Access access() const {
    Access result;
    result.buffer_bytes = size(blocks * block);
    result.file_bytes = blocks * row;
    result.runs = [*this](const RunVisitor& visit) {
      for (std::int64_t i = 0; i < blocks; ++i) {
        visit({file_offset(i), size(i * block), size(block)});
      }
    };
    return result;
  }

  std::int64_t rank;
  std::int64_t ranks;
  std::int64_t begin;
  std::int64_t block;
  std::int64_t row;
  std::int64_t blocks;
};

/// Access to the blocks through one view, with `calls` calls. `calls` must divide the number of
/// blocks.
Access through_view(const RoundRobin& deal, std::int64_t calls = 1) {
  Step step;
  step.displacement = deal.file_offset(0);
  step.memory = Datatype::bytes(deal.block);
  step.filetype = Datatype::resized(step.memory, deal.row);
  const std::int64_t blocks_a_call = deal.blocks / calls;
  for (std::int64_t i = 0; i < calls; ++i) {
    const std::int64_t bytes = i * blocks_a_call * deal.block;
    step.transfers.push_back({bytes, size(bytes), static_cast<int>(blocks_a_call)});
  }
  Access result = deal.access();
  result.steps.push_back(std::move(step));
  return result;
}

Access call_a_block(const RoundRobin& deal) {
  Step step;
  for (std::int64_t i = 0; i < deal.blocks; ++i) {
    step.transfers.push_back(
        {deal.file_offset(i), size(i * deal.block), static_cast<int>(deal.block)});
  }
  Access result = deal.access();
  result.steps.push_back(std::move(step));
  return result;
}

std::int64_t chosen_block(const Geometry& geometry) {
  return geometry.block_bytes > 0 ? geometry.block_bytes : 64 * kib;
}

Access interleaved(const Geometry& geometry) {
  return through_view({geometry, chosen_block(geometry)});
}

/// Rank r has r + 1 units of each row: the last of P ranks has P times the bytes of rank 0.
Access uneven(const Geometry& geometry) {
  constexpr std::int64_t unit = 4 * kib;
  const auto before = [](std::int64_t rank) { return rank * (rank + 1) / 2 * unit; };
  const std::int64_t begin = before(geometry.rank);
  const std::int64_t block = before(geometry.rank + 1) - begin;
  return through_view(RoundRobin(geometry, begin, block, before(geometry.ranks)));
}

Access strided(const Geometry& geometry) { return call_a_block({geometry, 64 * kib}); }
Access hard(const Geometry& geometry) { return through_view({geometry, ior_hard_block}); }
Access hard_calls(const Geometry& geometry) { return call_a_block({geometry, ior_hard_block}); }

/// Latency-IO (Chaarawi and Gabriel): each call accesses several segments of every rank, 20 MiB per
/// rank. There are at least two calls; they are smaller if the file is too small.
Access latency_io(const Geometry& geometry, std::int64_t segment) {
  constexpr std::int64_t call_bytes = 20 * kib * kib;
  const std::int64_t rank_bytes = geometry.bytes / geometry.ranks;
  const std::int64_t segments =
      std::max<std::int64_t>(1, std::min(call_bytes, rank_bytes / 2) / segment);
  const std::int64_t calls = std::max<std::int64_t>(2, rank_bytes / (segments * segment));
  Geometry whole = geometry;
  whole.bytes = calls * segments * segment * geometry.ranks;
  return through_view({whole, segment}, calls);
}
Access latency(const Geometry& geometry) { return latency_io(geometry, 64 * kib); }
Access latency2m(const Geometry& geometry) { return latency_io(geometry, 2 * kib * kib); }

Access independent(Access access) {
  for (Step& step : access.steps) step.collective = false;
  return access;
}
Access ind1k(const Geometry& geometry) { return independent(through_view({geometry, kib})); }
Access ind64k(const Geometry& geometry) { return independent(through_view({geometry, 64 * kib})); }

/// Each rank has as many bytes as in `interleaved`, in one contiguous piece.
Access pieces(const Geometry& geometry) {
  const RoundRobin deal(geometry, chosen_block(geometry));
  Geometry whole = geometry;
  whole.bytes = deal.blocks * deal.block * deal.ranks;
  Access result = contiguous_share(whole);
  Step step;
  step.memory = Datatype::bytes(deal.block);
  step.transfers.push_back(
      {deal.rank * deal.blocks * deal.block, 0, static_cast<int>(deal.blocks)});
  result.steps.push_back(std::move(step));
  return result;
}

Access seg(const Geometry& geometry) {
  constexpr std::int64_t transfer = kib * kib;
  const std::int64_t count =
      std::max<std::int64_t>(1, geometry.bytes / (geometry.ranks * transfer));
  Geometry whole = geometry;
  whole.bytes = count * transfer * geometry.ranks;
  Access result = contiguous_share(whole);
  Step step;
  for (std::int64_t i = 0; i < count; ++i) {
    step.transfers.push_back(
        {(geometry.rank * count + i) * transfer, size(i * transfer), static_cast<int>(transfer)});
  }
  result.steps.push_back(std::move(step));
  return result;
}

Access subarray3d(const Geometry& geometry) {
  const auto block = cube_block(geometry, static_cast<double>(geometry.bytes), sizeof(double));
  return access_blocks(block, Datatype::real(), in_c_order);
}

/// mpi-tile-io: adjacent tiles, one per rank, of `rows` x `columns` elements. The number of rows
/// follows from the file size.
Access tiles(const Geometry& geometry, int columns, std::int64_t element) {
  const auto parts = balanced_factors<2>(geometry.ranks);
  Block<2> block;
  block.element = element;
  const std::int64_t row_bytes = columns * element;
  const auto rows =
      static_cast<int>(std::max<std::int64_t>(1, geometry.bytes / (geometry.ranks * row_bytes)));
  block.array = {rows * parts[0], columns * parts[1]};
  block.deal(0, geometry.rank / parts[1], parts[0]);
  block.deal(1, geometry.rank % parts[1], parts[1]);
  const auto etype = element == sizeof(double) ? Datatype::real() : Datatype::bytes(element);
  return access_blocks(block, etype, in_c_order);
}

Access tile64(const Geometry& geometry) { return tiles(geometry, 1024, 64); }
Access tile8(const Geometry& geometry) { return tiles(geometry, 128, sizeof(double)); }

constexpr std::array<Workload, 21> workloads = {{
    {"seg", "one contiguous piece per rank, collective calls of 1 MiB (IOR segmented)", seg},
    {"strided", "64 KiB blocks round robin, one collective call per block (IOR strided)", strided},
    {"interleaved", "64 KiB blocks round robin, one collective call through a view", interleaved},
    {"hard-calls", "47,008-byte blocks round robin, one collective call per block (IO500)",
     hard_calls},
    {"hard", "47,008-byte blocks round robin, one collective call through a view (IO500)", hard},
    {"tile64", "one 2-D tile per rank, rows of 1024 elements of 64 bytes (mpi-tile-io)", tile64},
    {"tile8", "one 2-D tile per rank, rows of 128 elements of 8 bytes (mpi-tile-io)", tile8},
    {"latency",
     "64 KiB segments round robin, several per call, 20 MiB per rank and call (Latency-IO)",
     latency},
    {"latency2m", "the same with segments of 2 MiB", latency2m},
    {"bt", "a cube of 40-byte cells, diagonally multi-partitioned, ghost cells (NAS BT-IO)", bt,
     RankCount::square},
    {"flash", "blocks of 16^3 cells, 24 variables interleaved in memory, one call each (FLASH-IO)",
     flash},
    {"flash8", "the same with blocks of 8^3 cells", flash8},
    {"climate", "200,000 random pieces of 8 to 64 bytes per rank, one call, indexed view (E3SM-IO)",
     climate},
    {"block4d", "a 4-D lattice of 192-byte sites in blocks, rows of 1.5 KiB, one call (mpich#7935)",
     block4d},
    {"steps", "twenty time steps of three 3-D arrays, appended through one view, one call each",
     steps},
    {"header", "small writes by rank 0, then one collective call per variable (netCDF, HDF5)",
     header},
    {"pieces", "as many bytes per rank as in interleaved, in one piece, one collective call",
     pieces},
    {"uneven", "rows of P blocks, the block of rank r has 4 (r + 1) KiB, one call through a view",
     uneven},
    {"ind1k", "every P-th piece of 1 KiB, one independent call through a view", ind1k},
    {"ind64k", "every P-th piece of 64 KiB, one independent call through a view", ind64k},
    {"subarray3d", "a 3-D array of doubles in blocks, one collective call", subarray3d},
}};

}  // namespace

bool Workload::runs_at(int ranks) const {
  if (rank_count == RankCount::any) return true;
  const auto edge = static_cast<int>(std::lround(std::sqrt(ranks)));
  return edge * edge == ranks;
}

std::span<const Workload> all_workloads() { return workloads; }

const Workload* find_workload(std::string_view name) {
  const auto found = std::find_if(workloads.begin(), workloads.end(),
                                  [&](const Workload& workload) { return workload.name == name; });
  return found == workloads.end() ? nullptr : &*found;
}

Access contiguous_share(const Geometry& geometry) {
  const std::int64_t begin = geometry.bytes * geometry.rank / geometry.ranks;
  const std::int64_t end = geometry.bytes * (geometry.rank + 1) / geometry.ranks;
  Access result;
  result.file_bytes = geometry.bytes;
  result.buffer_bytes = size(end - begin);
  result.runs = [begin, end](const RunVisitor& visit) { visit({begin, 0, size(end - begin)}); };
  return result;
}

}  // namespace nacre::workload
