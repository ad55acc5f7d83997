// Shapes that several workloads share: blocks of arrays.
#ifndef NACRE_SIM_WORKLOAD_SHAPES_H_
#define NACRE_SIM_WORKLOAD_SHAPES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/workload/access.h"

namespace nacre::workload {

inline std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// Orders of the dimensions of a subarray.
inline constexpr bool in_c_order = false;
inline constexpr bool in_fortran_order = true;

/// `count` as a product of N factors that differ as little as possible, largest first: what
/// MPI_Dims_create returns.
template <std::size_t N>
[[nodiscard]] std::array<int, N> balanced_factors(int count);

/// The block of one rank in an N-dimensional array. The last dimension is the fastest.
template <std::size_t N>
struct Block {
  std::array<int, N> array{};
  std::array<int, N> start{};
  std::array<int, N> extent{};
  std::int64_t element = 1;

  /// Sets the block in dimension `d` to part `part` of `parts`. The lengths of the parts differ by
  /// at most one.
  void deal(std::size_t d, int part, int parts) {
    const std::int64_t length = array[d];
    start[d] = static_cast<int>(length * part / parts);
    extent[d] = static_cast<int>(length * (part + 1) / parts) - start[d];
  }

  [[nodiscard]] static std::int64_t count(const std::array<int, N>& lengths) {
    std::int64_t product = 1;
    for (const int length : lengths) product *= length;
    return product;
  }

  [[nodiscard]] std::int64_t row_bytes() const { return extent[N - 1] * element; }
  [[nodiscard]] std::int64_t rows() const {
    return extent[N - 1] == 0 ? 0 : count(extent) / extent[N - 1];
  }

  /// Offset in bytes of row `row` of the block in the array.
  [[nodiscard]] std::int64_t row_offset(std::int64_t row) const {
    std::int64_t at = start[N - 1];
    std::int64_t stride = array[N - 1];
    for (std::size_t d = N - 1; d-- > 0;) {
      at += (start[d] + row % extent[d]) * stride;
      stride *= array[d];
      row /= extent[d];
    }
    return at * element;
  }

  /// The block as a datatype over `etype`. In Fortran's order the dimensions are passed fastest
  /// first, as a Fortran program does; the type describes the same bytes.
  [[nodiscard]] Datatype subarray(const Datatype& etype, bool is_fortran) const {
    std::vector<Datatype::Dimension> dimensions;
    for (std::size_t d = 0; d < N; ++d) dimensions.push_back({array[d], start[d], extent[d]});
    if (is_fortran) std::reverse(dimensions.begin(), dimensions.end());
    return Datatype::subarray(std::move(dimensions), is_fortran, etype);
  }
};

/// Access to `arrays` consecutive arrays of the same shape: one collective call per array for the
/// block of this rank, all through one subarray view, which repeats from array to array.
template <std::size_t N>
[[nodiscard]] Access access_blocks(const Block<N>& block, const Datatype& etype, bool is_fortran,
                                   int arrays = 1) {
  const std::int64_t array_bytes = Block<N>::count(block.array) * block.element;
  const std::int64_t block_elements = Block<N>::count(block.extent);
  const std::int64_t block_bytes = block_elements * block.element;
  Access result;
  result.buffer_bytes = size(block_bytes * arrays);
  result.file_bytes = array_bytes * arrays;
  result.runs = [=](const RunVisitor& visit) {
    for (int i = 0; i < arrays; ++i) {
      for (std::int64_t row = 0; row < block.rows(); ++row) {
        visit({i * array_bytes + block.row_offset(row),
               size(i * block_bytes + row * block.row_bytes()), size(block.row_bytes())});
      }
    }
  };
  Step step;
  step.etype = etype;
  step.filetype = block.subarray(etype, is_fortran);
  // The memory type is one row, so that no count comes near 2^31.
  step.memory = Datatype::contiguous(block.extent[N - 1], etype);
  for (int i = 0; i < arrays; ++i) {
    step.transfers.push_back(
        {i * block_elements, size(i * block_bytes), static_cast<int>(block.rows())});
  }
  result.steps.push_back(std::move(step));
  return result;
}

/// The block of this rank in a cube of about `bytes` bytes that is divided among all ranks in three
/// dimensions. `element` is the element size in bytes.
[[nodiscard]] Block<3> cube_block(const Geometry& geometry, double bytes, std::int64_t element);

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_SHAPES_H_
