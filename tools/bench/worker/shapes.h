#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "workload.h"

namespace nacre::bench {

inline std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

[[nodiscard]] Datatype contiguous_type(std::int64_t count, const Datatype& element);
[[nodiscard]] Datatype bytes_type(std::int64_t count);

/// A rank's block of an array of any number of dimensions, the last of which is the fastest.
template <std::size_t N>
struct Block {
  std::array<int, N> array{};
  std::array<int, N> start{};
  std::array<int, N> extent{};
  std::int64_t element = 1;

  /// The rank's part of dimension `d`, which is dealt to `parts` in blocks that differ by at most
  /// one.
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

  /// Where row `row` of the block begins in the array, in bytes.
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

  /// As a datatype over `etype`. With MPI_ORDER_FORTRAN it is told as a Fortran program would,
  /// fastest dimension first; what it describes is the same.
  [[nodiscard]] Datatype subarray(const Datatype& etype, int order) const {
    Block told = *this;
    if (order == MPI_ORDER_FORTRAN) {
      std::reverse(told.array.begin(), told.array.end());
      std::reverse(told.start.begin(), told.start.end());
      std::reverse(told.extent.begin(), told.extent.end());
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    require(MPI_Type_create_subarray(static_cast<int>(N), told.array.data(), told.extent.data(),
                                     told.start.data(), order, etype.get(), &type),
            "MPI_Type_create_subarray");
    return Datatype::made(type);
  }
};

/// `arrays` arrays of one shape one after the other, a collective call for a rank's block of each,
/// all through one subarray view, which repeats itself from array to array.
template <std::size_t N>
[[nodiscard]] Access access_blocks(const Block<N>& block, const Datatype& etype, int order,
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
  step.filetype = block.subarray(etype, order);
  // A row of the array in memory, so that no count comes near 2^31.
  step.memory = contiguous_type(block.extent[N - 1], etype);
  for (int i = 0; i < arrays; ++i) {
    step.transfers.push_back(
        {i * block_elements, size(i * block_bytes), static_cast<int>(block.rows())});
  }
  result.steps.push_back(std::move(step));
  return result;
}

/// A rank's block of a cube of about `bytes` bytes, dealt to all ranks in three dimensions.
[[nodiscard]] Block<3> cube_block(const Geometry& geometry, double bytes, std::int64_t element);

}  // namespace nacre::bench
