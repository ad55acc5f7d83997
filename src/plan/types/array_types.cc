#include "plan/types/array_types.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

Error type_error(const std::string& what) { return Error{ErrorClass::type, 0, what}; }

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
  return type_error("dimension " + std::to_string(index) + " of a subarray takes " +
                    std::to_string(d.subsize) + " of " + std::to_string(d.size) + " from " +
                    std::to_string(d.start) + " on, which is not inside the array");
}

/// One dimension of part of an array, laid over the dimensions inside it.
struct Layer {
  TypeMap map;
  std::int64_t stride = 0;  ///< bytes from one index of the dimension to the next
};

/// The data of `layer` at indices start, start + 1, ... of its dimension, bounds set by the caller.
Result<TypeMap> lay_range(const Layer& layer, std::int64_t start, std::int64_t count) {
  const Result<TypeMap> block = TypeMap::repeat(layer.map, count, layer.stride);
  const auto displacement = checked_multiply(start, layer.stride);
  if (!block) return block.error();
  if (!displacement) return type_error("the array exceeds 64 bits");
  const std::int64_t one = 1;
  return TypeMap::indexed(*block, std::span(&one, 1), std::span(&*displacement, 1));
}

/// What a process owns of a dimension: blocks at first, first + period, ...
struct Share {
  std::int64_t first = 0;
  std::int64_t block = 0;
  std::int64_t period = 0;
};

Error dimension_error(std::size_t index, const std::string& what) {
  return type_error("dimension " + std::to_string(index) + " of a darray " + what);
}

Status check(const DarrayDimension& d, std::size_t index) {
  if (d.global_size < 1) {
    return dimension_error(index, "has a size of " + std::to_string(d.global_size));
  }
  if (d.process_count < 1 || d.process_coordinate < 0 || d.process_coordinate >= d.process_count) {
    return dimension_error(index, "puts the process at " + std::to_string(d.process_coordinate) +
                                      " of " + std::to_string(d.process_count));
  }
  if (d.distribution == Distribution::none && d.process_count != 1) {
    return dimension_error(
        index, "is not distributed, but over " + std::to_string(d.process_count) + " processes");
  }
  if (d.argument != DarrayDimension::default_argument && d.argument < 1) {
    return dimension_error(index, "deals blocks of " + std::to_string(d.argument));
  }
  return {};
}

/// MPI-4.1, 5.1.4. Numbers beyond the dimension's size stand for nothing and are cut to it.
Result<Share> share_of(const DarrayDimension& d, std::size_t index) {
  if (Status valid = check(d, index); !valid) return std::move(valid).error();
  const std::int64_t size = d.global_size;
  if (d.distribution == Distribution::none) return Share{0, size, size};
  const std::int64_t even_block = (size - 1) / d.process_count + 1;
  const std::int64_t default_block = d.distribution == Distribution::block ? even_block : 1;
  const std::int64_t block =
      d.argument == DarrayDimension::default_argument ? default_block : std::min(d.argument, size);
  if (d.distribution == Distribution::block && block < even_block) {
    return dimension_error(index, "gives " + std::to_string(block) + " of " + std::to_string(size) +
                                      " indices to each of " + std::to_string(d.process_count) +
                                      " processes, which leaves some over");
  }
  const std::int64_t first = checked_multiply(d.process_coordinate, block).value_or(size);
  const std::int64_t period = checked_multiply(d.process_count, block).value_or(size);
  return Share{std::min(first, size), block, period};
}

/// The process's indices of one dimension: whole blocks `period` apart, then what is left of one.
Result<TypeMap> lay_share(const Layer& layer, const Share& share, std::int64_t size) {
  const std::int64_t room = size - share.first;
  const std::int64_t whole = room < share.block ? 0 : (room - share.block) / share.period + 1;
  // A product beyond 64 bits is beyond the dimension's end, too.
  const std::int64_t dealt = checked_multiply(whole, share.period).value_or(room);
  const std::int64_t rest = std::clamp<std::int64_t>(room - dealt, 0, share.block);
  std::vector<TypeMap::Field> parts;
  if (whole > 0) {
    const Result<TypeMap> block = lay_range(layer, share.first, share.block);
    if (!block) return block.error();
    const auto period = checked_multiply(share.period, layer.stride);
    if (!period && whole > 1) return type_error("the array exceeds 64 bits");
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

/// `map` inside dimensions of `size` indices, one more layer out.
Result<Layer> wrap(Result<TypeMap> map, std::int64_t stride, std::int64_t size) {
  if (!map) return std::move(map).error();
  const auto next = checked_multiply(stride, size);
  if (!next) return type_error("the array exceeds 64 bits");
  return Layer{*std::move(map), *next};
}

}  // namespace

Result<TypeMap> subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order,
                         const TypeMap& element) {
  Layer layer{element, element.extent()};
  for (const std::size_t d : fastest_first(dimensions.size(), order)) {
    const SubarrayDimension& dimension = dimensions[d];
    if (Status valid = check(dimension, d); !valid) return std::move(valid).error();
    Result<Layer> outer =
        wrap(lay_range(layer, dimension.start, dimension.subsize), layer.stride, dimension.size);
    if (!outer) return std::move(outer).error();
    layer = *std::move(outer);
  }
  return layer.map.resized(0, layer.stride);
}

Result<TypeMap> darray(std::span<const DarrayDimension> dimensions, ArrayOrder order,
                       const TypeMap& element) {
  Layer layer{element, element.extent()};
  for (const std::size_t d : fastest_first(dimensions.size(), order)) {
    const DarrayDimension& dimension = dimensions[d];
    const Result<Share> share = share_of(dimension, d);
    if (!share) return share.error();
    Result<Layer> outer =
        wrap(lay_share(layer, *share, dimension.global_size), layer.stride, dimension.global_size);
    if (!outer) return std::move(outer).error();
    layer = *std::move(outer);
  }
  return layer.map.resized(0, layer.stride);
}

}  // namespace nacre::plan
