#include "plan/types/array_types.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

Error type_error(const std::string& what) { return Error{ErrorClass::type, 0, what}; }

Error array_too_large() { return type_error("subarray or darray: its extent exceeds 64 bits"); }

/// Which dimension varies fastest, next, ...: the last in C, the first in Fortran.
std::vector<std::size_t> fastest_first(std::size_t rank, ArrayOrder order) {
  std::vector<std::size_t> dimensions(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dimensions[i] = order == ArrayOrder::fortran ? i : rank - 1 - i;
  }
  return dimensions;
}

Status check(const SubarrayDimension& d, std::size_t index) {
  if (d.size >= 1 && d.subsize >= 1 && d.subsize <= d.size && d.start >= 0 &&
      d.start <= d.size - d.subsize) {
    return {};
  }
  return type_error("subarray: dimension " + std::to_string(index) + " has size " +
                    std::to_string(d.size) + ", subsize " + std::to_string(d.subsize) +
                    " and start " + std::to_string(d.start) +
                    "; the subarray must have at least one element and lie inside the array");
}

/// One dimension of part of an array, laid over the dimensions inside it.
struct Layer {
  TypeMap map;
  std::int64_t stride = 0;  ///< bytes from one index of the dimension to the next
};

/// The data of `layer` at indices start, start + 1, ... of its dimension. The caller sets bounds.
Result<TypeMap> lay_range(const Layer& layer, std::int64_t start, std::int64_t count) {
  const Result<TypeMap> block = TypeMap::repeat(layer.map, count, layer.stride);
  const auto displacement = checked_multiply(start, layer.stride);
  if (!block) return block.error();
  if (!displacement) return array_too_large();
  const TypeMap::Field field{*displacement, 1, block->node()};
  return TypeMap::structure({&field, 1});
}

/// The indices of a process in a dimension: blocks at first, first + period, ...
struct Share {
  std::int64_t first = 0;
  std::int64_t block = 0;
  std::int64_t period = 0;
};

Error dimension_error(std::size_t index, const std::string& what) {
  return type_error("darray: dimension " + std::to_string(index) + " has " + what);
}

Status check(const DarrayDimension& d, std::size_t index) {
  if (d.global_size < 1) {
    return dimension_error(index, "size " + std::to_string(d.global_size) + "; use 1 or more");
  }
  const std::string processes = std::to_string(d.process_count) + " processes";
  if (d.process_count < 1 || d.process_coordinate < 0 || d.process_coordinate >= d.process_count) {
    return dimension_error(index, processes + " and process coordinate " +
                                      std::to_string(d.process_coordinate) +
                                      "; coordinates are 0 to the number of processes less one");
  }
  if (d.distribution == Distribution::none && d.process_count != 1) {
    return dimension_error(index, processes + "; MPI_DISTRIBUTE_NONE takes one process");
  }
  if (d.argument != DarrayDimension::default_argument && d.argument < 1) {
    return dimension_error(index, "distribution argument " + std::to_string(d.argument) +
                                      "; use 1 or more, or MPI_DISTRIBUTE_DFLT_DARG");
  }
  return {};
}

/// MPI-4.1, 5.1.4. Numbers beyond the size of the dimension have no indices and are limited to it.
Result<Share> share_of(const DarrayDimension& d, std::size_t index) {
  if (Status valid = check(d, index); !valid) return std::move(valid).error();
  const std::int64_t size = d.global_size;
  if (d.distribution == Distribution::none) return Share{0, size, size};
  const std::int64_t even_block = (size - 1) / d.process_count + 1;
  const std::int64_t default_block = d.distribution == Distribution::block ? even_block : 1;
  const std::int64_t block =
      d.argument == DarrayDimension::default_argument ? default_block : std::min(d.argument, size);
  if (d.distribution == Distribution::block && block < even_block) {
    return dimension_error(index,
                           "blocks of " + std::to_string(block) + " for " + std::to_string(size) +
                               " indices and " + std::to_string(d.process_count) +
                               " processes; use blocks of at least " + std::to_string(even_block));
  }
  const std::int64_t first = checked_multiply(d.process_coordinate, block).value_or(size);
  const std::int64_t period = checked_multiply(d.process_count, block).value_or(size);
  return Share{std::min(first, size), block, period};
}

/// The indices of a process in a dimension: whole blocks `period` apart, then the rest of a block.
Result<TypeMap> lay_share(const Layer& layer, const Share& share, std::int64_t size) {
  const std::int64_t room = size - share.first;
  const std::int64_t whole = room < share.block ? 0 : (room - share.block) / share.period + 1;
  // A product beyond 64 bits is beyond the end of the dimension too.
  const std::int64_t dealt = checked_multiply(whole, share.period).value_or(room);
  const std::int64_t rest = std::clamp<std::int64_t>(room - dealt, 0, share.block);
  std::vector<TypeMap::Field> parts;
  if (whole > 0) {
    const Result<TypeMap> block = lay_range(layer, share.first, share.block);
    if (!block) return block.error();
    const auto period = checked_multiply(share.period, layer.stride);
    if (!period && whole > 1) return array_too_large();
    const Result<TypeMap> blocks = TypeMap::repeat(*block, whole, period.value_or(0));
    if (!blocks) return blocks.error();
    parts.push_back({0, 1, blocks->node()});
  }
  if (rest > 0) {
    const Result<TypeMap> last = lay_range(layer, share.first + dealt, rest);
    if (!last) return last.error();
    parts.push_back({0, 1, last->node()});
  }
  return TypeMap::structure(parts);
}

/// Lays `element` over all dimensions, the fastest first. `lay(layer, dimension, index)` yields the
/// data of one dimension.
template <class Dimension, class Lay>
Result<TypeMap> lay_dimensions(std::span<const Dimension> dimensions, ArrayOrder order,
                               const TypeMap& element, std::int64_t Dimension::*size,
                               const Lay& lay) {
  Layer layer{element, element.extent()};
  for (const std::size_t d : fastest_first(dimensions.size(), order)) {
    Result<TypeMap> map = lay(layer, dimensions[d], d);
    if (!map) return map;
    const auto stride = checked_multiply(layer.stride, dimensions[d].*size);
    if (!stride) return array_too_large();
    layer = {*std::move(map), *stride};
  }
  return layer.map.resized(0, layer.stride);
}

}  // namespace

Result<TypeMap> subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order,
                         const TypeMap& element) {
  const auto lay = [](const Layer& layer, const SubarrayDimension& dimension,
                      std::size_t index) -> Result<TypeMap> {
    if (Status valid = check(dimension, index); !valid) return std::move(valid).error();
    return lay_range(layer, dimension.start, dimension.subsize);
  };
  return lay_dimensions(dimensions, order, element, &SubarrayDimension::size, lay);
}

Result<TypeMap> darray(std::span<const DarrayDimension> dimensions, ArrayOrder order,
                       const TypeMap& element) {
  const auto lay = [](const Layer& layer, const DarrayDimension& dimension,
                      std::size_t index) -> Result<TypeMap> {
    const Result<Share> share = share_of(dimension, index);
    if (!share) return share.error();
    return lay_share(layer, *share, dimension.global_size);
  };
  return lay_dimensions(dimensions, order, element, &DarrayDimension::global_size, lay);
}

}  // namespace nacre::plan
