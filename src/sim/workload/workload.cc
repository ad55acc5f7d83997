#include "sim/workload/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "plan/types/type_map.h"

namespace nacre::sim {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t ior_hard_block = 47008;

/// Blocks in rows: each rank has one block of each row.
struct Rows {
  std::int64_t begin = 0;  ///< of the rank's block in a row
  std::int64_t block = 0;  ///< bytes
  std::int64_t row = 0;    ///< bytes
  std::int64_t count = 1;
};

Rows rows_of(const Geometry& geometry, std::int64_t block) {
  const std::int64_t row = geometry.rank_count * block;
  return {geometry.rank * block, block, row, std::max<std::int64_t>(1, geometry.bytes / row)};
}

plan::TypeMap spaced(std::int64_t bytes, std::int64_t extent) {
  return plan::TypeMap::bytes(bytes).resized(0, extent).value();
}

/// All rows in one call through a view.
CallSeries through_view(const Rows& rows) {
  return {{spaced(rows.block, rows.row), rows.begin}, {{0, rows.count * rows.block}}};
}

/// A call for each row, without a view.
CallSeries call_a_row(const Rows& rows) {
  CallSeries result{{plan::TypeMap::bytes(1), 0}, {}};
  for (std::int64_t i = 0; i < rows.count; ++i) {
    result.calls.push_back({i * rows.row + rows.begin, rows.block});
  }
  return result;
}

std::int64_t chosen_block(const Geometry& geometry) {
  return geometry.block_bytes > 0 ? geometry.block_bytes : 64 * kib;
}

CallSeries interleaved(const Geometry& geometry) {
  return through_view(rows_of(geometry, chosen_block(geometry)));
}
CallSeries strided(const Geometry& geometry) {
  return call_a_row(rows_of(geometry, chosen_block(geometry)));
}
CallSeries hard(const Geometry& geometry) {
  return through_view(rows_of(geometry, ior_hard_block));
}

CallSeries uneven(const Geometry& geometry) {
  constexpr std::int64_t unit = 4 * kib;
  const auto before = [](std::int64_t rank) { return rank * (rank + 1) / 2 * unit; };
  const std::int64_t row = before(geometry.rank_count);
  const std::int64_t begin = before(geometry.rank);
  return through_view({begin, before(geometry.rank + 1) - begin, row,
                       std::max<std::int64_t>(1, geometry.bytes / row)});
}

/// Each rank has one contiguous piece, in calls of `call_bytes`; 0: one call.
CallSeries contiguous(const Geometry& geometry, std::int64_t unit, std::int64_t call_bytes) {
  const Rows rows = rows_of(geometry, unit);
  const std::int64_t piece = rows.count * unit;
  const std::int64_t call = call_bytes == 0 ? piece : call_bytes;
  CallSeries result{{plan::TypeMap::bytes(1), 0}, {}};
  for (std::int64_t done = 0; done < piece; done += call) {
    result.calls.push_back({geometry.rank * piece + done, call});
  }
  return result;
}

CallSeries pieces(const Geometry& geometry) {
  return contiguous(geometry, chosen_block(geometry), 0);
}
CallSeries seg(const Geometry& geometry) { return contiguous(geometry, kib * kib, kib * kib); }

/// `count` as a product of N factors that differ as little as possible, largest first.
template <std::size_t N>
std::array<int, N> balanced_factors(int count) {
  std::array<int, N> factors{};
  factors.fill(1);
  for (int divisor = 2; count > 1;) {
    if (static_cast<std::int64_t>(divisor) * divisor > count) divisor = count;
    if (count % divisor != 0) {
      ++divisor;
      continue;
    }
    count /= divisor;
    *std::ranges::min_element(factors) *= divisor;
  }
  std::ranges::sort(factors, std::greater<>());
  return factors;
}

/// The part of one rank of a dimension: `length` elements of which it has [start, start + extent).
struct Part {
  std::int64_t length = 0;
  std::int64_t start = 0;
  std::int64_t extent = 0;
};

Part part_of(std::int64_t length, int part, int parts) {
  const std::int64_t start = length * part / parts;
  return {length, start, length * (part + 1) / parts - start};
}

/// The block of a rank in an array whose last dimension is the fastest, in one call.
CallSeries block_of(std::span<const Part> dimensions, std::int64_t element_bytes) {
  std::int64_t stride = element_bytes;
  std::int64_t begin = 0;
  plan::TypeMap block = plan::TypeMap::bytes(element_bytes);
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    block = plan::TypeMap::repeat(block, dimensions[d].extent, stride).value();
    begin += dimensions[d].start * stride;
    stride *= dimensions[d].length;
  }
  const std::int64_t bytes = block.size();
  return {{block.resized(0, stride).value(), begin}, {{0, bytes}}};
}

/// mpi-tile-io: adjacent tiles of `columns` elements a row. The number of rows follows from the
/// size of the file.
CallSeries tiles(const Geometry& geometry, std::int64_t columns, std::int64_t element_bytes) {
  const auto parts = balanced_factors<2>(geometry.rank_count);
  const std::int64_t rows =
      std::max<std::int64_t>(1, geometry.bytes / (geometry.rank_count * columns * element_bytes));
  const std::array dimensions{part_of(rows * parts[0], geometry.rank / parts[1], parts[0]),
                              part_of(columns * parts[1], geometry.rank % parts[1], parts[1])};
  return block_of(dimensions, element_bytes);
}
CallSeries tile64(const Geometry& geometry) { return tiles(geometry, 1024, 64); }
CallSeries tile8(const Geometry& geometry) { return tiles(geometry, 128, 8); }

/// A cube of doubles that is divided among the ranks in three dimensions.
CallSeries subarray3d(const Geometry& geometry) {
  constexpr std::int64_t element_bytes = 8;
  const auto parts = balanced_factors<3>(geometry.rank_count);
  const double elements = static_cast<double>(geometry.bytes) / element_bytes;
  const auto edge = std::max<std::int64_t>(std::llround(std::cbrt(elements)), parts[0]);
  const std::array dimensions{part_of(edge, geometry.rank / (parts[1] * parts[2]), parts[0]),
                              part_of(edge, geometry.rank / parts[2] % parts[1], parts[1]),
                              part_of(edge, geometry.rank % parts[2], parts[2])};
  return block_of(dimensions, element_bytes);
}

constexpr std::array<Workload, 9> workloads{{
    {"interleaved", "blocks of 64 KiB round robin, one collective call through a view",
     interleaved},
    {"pieces", "as many bytes per rank as in interleaved, in one piece, one collective call",
     pieces},
    {"seg", "one contiguous piece per rank, collective calls of 1 MiB (IOR segmented)", seg},
    {"strided", "blocks of 64 KiB round robin, one collective call per block (IOR strided)",
     strided},
    {"hard", "47,008-byte blocks round robin, one collective call through a view (IO500)", hard},
    {"tile64", "one 2-D tile per rank, rows of 1024 elements of 64 bytes (mpi-tile-io)", tile64},
    {"tile8", "one 2-D tile per rank, rows of 128 elements of 8 bytes (mpi-tile-io)", tile8},
    {"subarray3d", "a 3-D array of doubles in blocks, one collective call", subarray3d},
    {"uneven", "rows of P blocks, the block of rank r has 4 (r + 1) KiB, one call through a view",
     uneven},
}};

}  // namespace

std::span<const Workload> all_workloads() { return workloads; }

const Workload* find_workload(std::string_view name) {
  const auto* const found = std::ranges::find(workloads, name, &Workload::name);
  return found == workloads.end() ? nullptr : found;
}

}  // namespace nacre::sim
