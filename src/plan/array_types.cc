#include "plan/array_types.h"

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

/// What a process owns of a dimension.
struct Share {
  std::int64_t first = 0;   ///< index of its first block
  std::int64_t block = 0;   ///< indices a block
  std::int64_t period = 0;  ///< from block to block
};

Result<Share> share_of(const DarrayDimension& d, std::size_t index) {
  if (d.distribution == Distribution::none) return Share{0, d.global_size, d.global_size};
  const std::int64_t default_block = d.distribution == Distribution::block
                                         ? (d.global_size + d.process_count - 1) / d.process_count
                                         : 1;
  const std::int64_t block =
      d.argument == DarrayDimension::default_argument ? default_block : d.argument;
  if (block < 1 || (d.distribution == Distribution::block &&
                    block < (d.global_size + d.process_count - 1) / d.process_count)) {
    return type_error("dimension " + std::to_string(index) + " of a darray deals blocks of " +
                      std::to_string(block) + " of " + std::to_string(d.global_size) +
                      " indices to " + std::to_string(d.process_count) +
                      " processes, which is too small");
  }
  return Share{d.process_coordinate * block, block, block * d.process_count};
}

/// The process's indices of one dimension: whole blocks `period` apart, then what is left of one.
Result<TypeMap> lay_share(const Layer& layer, const Share& share, std::int64_t size) {
  std::vector<TypeMap::Field> fields;
  std::vector<TypeMap> parts;
  const std::int64_t whole =
      size < share.first + share.block ? 0 : (size - share.first - share.block) / share.period + 1;
  const std::int64_t rest_first = share.first + whole * share.period;
  const std::int64_t rest = std::clamp<std::int64_t>(size - rest_first, 0, share.block);
  if (whole > 0) {
    const Result<TypeMap> block = lay_range(layer, share.first, share.block);
    const auto period = checked_multiply(share.period, layer.stride);
    if (!block) return block.error();
    if (!period) return type_error("the array exceeds 64 bits");
    Result<TypeMap> blocks = TypeMap::repeat(*block, whole, *period);
    if (!blocks) return blocks;
    parts.push_back(*std::move(blocks));
  }
  if (rest > 0) {
    Result<TypeMap> last = lay_range(layer, rest_first, rest);
    if (!last) return last;
    parts.push_back(*std::move(last));
  }
  for (const TypeMap& part : parts) fields.push_back({0, 1, part.node()});
  return TypeMap::structure(fields);
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
