#include "types.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace differential {
namespace {

/// `count` consecutive children from `offset` on.
struct Block {
  std::int64_t offset;
  int count;
  const Type* child;
};

/// The map and the natural bounds of a datatype made of blocks. Ignores blocks without a child.
Type assemble(const std::vector<Block>& blocks) {
  Type type;
  bool first = true;
  std::int64_t upper_bound = 0;
  for (const Block& block : blocks) {
    for (int index = 0; index < block.count; ++index) {
      const std::int64_t origin = block.offset + index * block.child->extent;
      for (const Element& element : block.child->map) {
        type.map.push_back({origin + element.offset, element.bytes, element.parts});
      }
      const std::int64_t low = origin + block.child->lower_bound;
      const std::int64_t high = low + block.child->extent;
      type.lower_bound = first ? low : std::min(type.lower_bound, low);
      upper_bound = first ? high : std::max(upper_bound, high);
      first = false;
    }
  }
  type.extent = upper_bound - type.lower_bound;
  return type;
}

std::shared_ptr<MPI_Datatype> own(MPI_Datatype handle) {
  return {new MPI_Datatype(handle), [](MPI_Datatype* owned) {
            MPI_Type_free(owned);
            delete owned;
          }};
}

std::string list(const std::vector<int>& values) {
  std::string text = "[";
  for (int value : values) {
    text += (text.size() > 1 ? "," : "") + std::to_string(value);
  }
  return text + "]";
}

/// Counts and displacements of the indexed constructors, in whole units.
struct Indexed {
  std::vector<int> lengths;
  std::vector<int> displacements;
};

Indexed random_indexed(Random& random, const TypeRequest& request, bool equal_lengths) {
  Indexed result;
  const int count = random.between(1, 4);
  const int common = random.between(1, 3);
  int at = random.between(request.for_file ? 0 : -4, 4);
  for (int index = 0; index < count; ++index) {
    const int length = equal_lengths ? common : random.between(0, 3);
    result.lengths.push_back(length);
    result.displacements.push_back(at);
    at += length + random.between(0, 3);
  }
  // In memory, elements may be in any order.
  if (!request.for_file && random.chance(40)) {
    std::reverse(result.displacements.begin(), result.displacements.end());
    std::reverse(result.lengths.begin(), result.lengths.end());
  }
  return result;
}

std::vector<Block> blocks_of(const Indexed& indexed, std::int64_t unit, const Type& child) {
  std::vector<Block> blocks;
  for (std::size_t index = 0; index < indexed.lengths.size(); ++index) {
    blocks.push_back({indexed.displacements[index] * unit, indexed.lengths[index], &child});
  }
  return blocks;
}

std::vector<MPI_Aint> in_bytes(const std::vector<int>& units, std::int64_t unit) {
  std::vector<MPI_Aint> bytes;
  for (int value : units) {
    bytes.push_back(static_cast<MPI_Aint>(value * unit));
  }
  return bytes;
}

Type make_contiguous(Random& random, const TypeRequest&, const Type& child) {
  return contiguous(child, random.between(1, 4));
}

Type make_vector(Random& random, const TypeRequest& request, const Type& child) {
  const int count = random.between(1, 3);
  const int length = random.between(1, 3);
  int stride = length + random.between(0, 3);
  if (!request.for_file && random.chance(30)) {
    stride = -stride;
  }
  std::vector<Block> blocks;
  for (int index = 0; index < count; ++index) {
    blocks.push_back({index * stride * child.extent, length, &child});
  }
  Type type = assemble(blocks);
  MPI_Datatype handle;
  MPI_Type_vector(count, length, stride, *child.handle, &handle);
  type.handle = own(handle);
  type.text = "vector(" + list({count, length, stride}) + "," + child.text + ")";
  return type;
}

/// The number of units that `count` children need.
int units_of(const TypeRequest& request, const Type& child, int count) {
  return static_cast<int>(
      (count * std::max<std::int64_t>(child.extent, 0) + request.unit_bytes - 1) /
      request.unit_bytes);
}

Type make_hvector(Random& random, const TypeRequest& request, const Type& child) {
  const int count = random.between(1, 3);
  const int length = random.between(1, 3);
  const std::int64_t stride =
      (units_of(request, child, length) + random.between(0, 9)) * request.unit_bytes;
  std::vector<Block> blocks;
  for (int index = 0; index < count; ++index) {
    blocks.push_back({index * stride, length, &child});
  }
  Type type = assemble(blocks);
  MPI_Datatype handle;
  MPI_Type_create_hvector(count, length, static_cast<MPI_Aint>(stride), *child.handle, &handle);
  type.handle = own(handle);
  type.text = "hvector([" + std::to_string(count) + "," + std::to_string(length) + "," +
              std::to_string(stride) + "]," + child.text + ")";
  return type;
}

Type make_indexed(Random& random, const TypeRequest& request, const Type& child) {
  const Indexed indexed = random_indexed(random, request, false);
  Type type = assemble(blocks_of(indexed, child.extent, child));
  MPI_Datatype handle;
  MPI_Type_indexed(static_cast<int>(indexed.lengths.size()), indexed.lengths.data(),
                   indexed.displacements.data(), *child.handle, &handle);
  type.handle = own(handle);
  type.text =
      "indexed(" + list(indexed.lengths) + list(indexed.displacements) + "," + child.text + ")";
  return type;
}

Type make_hindexed(Random& random, const TypeRequest& request, const Type& child) {
  Indexed indexed = random_indexed(random, request, false);
  const int scale = std::max(1, units_of(request, child, 1));
  for (int& displacement : indexed.displacements) {
    displacement = displacement * scale + random.between(0, 1);
  }
  const std::int64_t unit = request.unit_bytes;
  Type type = assemble(blocks_of(indexed, unit, child));
  const std::vector<MPI_Aint> displacements = in_bytes(indexed.displacements, unit);
  MPI_Datatype handle;
  MPI_Type_create_hindexed(static_cast<int>(indexed.lengths.size()), indexed.lengths.data(),
                           displacements.data(), *child.handle, &handle);
  type.handle = own(handle);
  type.text = "hindexed(" + list(indexed.lengths) + list(indexed.displacements) + "*" +
              std::to_string(unit) + "," + child.text + ")";
  return type;
}

Type make_indexed_block(Random& random, const TypeRequest& request, const Type& child) {
  const Indexed indexed = random_indexed(random, request, true);
  Type type = assemble(blocks_of(indexed, child.extent, child));
  MPI_Datatype handle;
  MPI_Type_create_indexed_block(static_cast<int>(indexed.lengths.size()), indexed.lengths.front(),
                                indexed.displacements.data(), *child.handle, &handle);
  type.handle = own(handle);
  type.text = "indexed_block(" + list(indexed.lengths) + list(indexed.displacements) + "," +
              child.text + ")";
  return type;
}

Type make_hindexed_block(Random& random, const TypeRequest& request, const Type& child) {
  Indexed indexed = random_indexed(random, request, true);
  const int scale = std::max(1, units_of(request, child, 1));
  for (int& displacement : indexed.displacements) {
    displacement *= scale;
  }
  const std::int64_t unit = request.unit_bytes;
  Type type = assemble(blocks_of(indexed, unit, child));
  const std::vector<MPI_Aint> displacements = in_bytes(indexed.displacements, unit);
  MPI_Datatype handle;
  MPI_Type_create_hindexed_block(static_cast<int>(indexed.lengths.size()), indexed.lengths.front(),
                                 displacements.data(), *child.handle, &handle);
  type.handle = own(handle);
  type.text = "hindexed_block(" + list(indexed.lengths) + list(indexed.displacements) + "*" +
              std::to_string(unit) + "," + child.text + ")";
  return type;
}

/// Sets the extent of a struct, because the MPI may pad it (MPI 4.1, 5.1.6).
Type make_struct(Random& random, const TypeRequest& request, const Type& child) {
  TypeRequest smaller = request;
  smaller.depth = std::min(request.depth - 1, 1);
  smaller.elements_max = 8;
  smaller.extent_max = 128;
  const Type other = random_type(random, smaller);
  const std::array<const Type*, 3> children{&child, &other, &request.leaf};
  const int count = random.between(1, 3);
  std::vector<Block> blocks;
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> handles;
  std::int64_t at = random.between(0, 2) * request.unit_bytes;
  std::string text = "struct(";
  for (int index = 0; index < count; ++index) {
    const int length = random.between(0, 2);
    const Type& member = *children[static_cast<std::size_t>(index)];
    blocks.push_back({at, length, &member});
    lengths.push_back(length);
    displacements.push_back(static_cast<MPI_Aint>(at));
    handles.push_back(*member.handle);
    text += std::to_string(length) + "x" + member.text + "@" + std::to_string(at) + " ";
    at += (units_of(request, member, length) + random.between(0, 2)) * request.unit_bytes;
  }
  Type type = assemble(blocks);
  MPI_Datatype handle;
  MPI_Type_create_struct(count, lengths.data(), displacements.data(), handles.data(), &handle);
  type.handle = own(handle);
  type.text = text + ")";
  return resized(type, 0, std::max(at, request.unit_bytes));
}

/// Storage order: the last index (C) or the first index (Fortran) is the fastest.
std::vector<int> strides_of(const std::vector<int>& sizes, int order) {
  std::vector<int> strides(sizes.size(), 1);
  if (order == MPI_ORDER_C) {
    for (std::size_t dim = sizes.size() - 1; dim > 0; --dim) {
      strides[dim - 1] = strides[dim] * sizes[dim];
    }
  } else {
    for (std::size_t dim = 1; dim < sizes.size(); ++dim) {
      strides[dim] = strides[dim - 1] * sizes[dim - 1];
    }
  }
  return strides;
}

/// The children of an array for which `taken` is true, in storage order. The extent is that of the
/// array.
Type part_of_array(const Type& child, const std::vector<int>& sizes, int order,
                   const std::function<bool(const std::vector<int>&)>& taken) {
  const int total = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  const std::vector<int> strides = strides_of(sizes, order);
  std::vector<Block> blocks;
  for (int place = 0; place < total; ++place) {
    std::vector<int> index(sizes.size());
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      index[dim] = place / strides[dim] % sizes[dim];
    }
    if (taken(index)) {
      blocks.push_back({place * child.extent, 1, &child});
    }
  }
  Type type = assemble(blocks);
  type.lower_bound = 0;
  type.extent = total * child.extent;
  return type;
}

Type make_subarray(Random& random, const TypeRequest&, const Type& child) {
  const int dims = random.between(1, 3);
  std::vector<int> sizes;
  std::vector<int> subsizes;
  std::vector<int> starts;
  for (int dim = 0; dim < dims; ++dim) {
    sizes.push_back(random.between(1, 4));
    subsizes.push_back(random.between(1, sizes.back()));
    starts.push_back(random.between(0, sizes.back() - subsizes.back()));
  }
  const int order = random.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  Type type = part_of_array(child, sizes, order, [&](const std::vector<int>& index) {
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (index[dim] < starts[dim] || index[dim] >= starts[dim] + subsizes[dim]) {
        return false;
      }
    }
    return true;
  });
  MPI_Datatype handle;
  MPI_Type_create_subarray(dims, sizes.data(), subsizes.data(), starts.data(), order, *child.handle,
                           &handle);
  type.handle = own(handle);
  type.text = std::string("subarray") + (order == MPI_ORDER_C ? "C" : "F") + "(" + list(sizes) +
              list(subsizes) + list(starts) + "," + child.text + ")";
  return type;
}

/// One dimension of a distributed array.
struct Distribution {
  int global = 1;
  int processes = 1;
  int kind = MPI_DISTRIBUTE_NONE;
  int argument = MPI_DISTRIBUTE_DFLT_DARG;
  int coordinate = 0;

  [[nodiscard]] bool owns(int index) const {
    if (kind == MPI_DISTRIBUTE_NONE) {
      return true;
    }
    const bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
    if (kind == MPI_DISTRIBUTE_BLOCK) {
      const int block = by_default ? (global + processes - 1) / processes : argument;
      return index / block == coordinate;
    }
    return index / (by_default ? 1 : argument) % processes == coordinate;
  }
};

Distribution random_distribution(Random& random) {
  Distribution result;
  result.global = random.between(1, 5);
  result.processes = random.between(1, 3);
  switch (random.below(5)) {
    case 0:
      result.processes = 1;
      break;
    case 1:
      result.kind = MPI_DISTRIBUTE_BLOCK;
      break;
    case 2:
      result.kind = MPI_DISTRIBUTE_BLOCK;
      result.argument =
          (result.global + result.processes - 1) / result.processes + random.between(0, 1);
      break;
    case 3:
      result.kind = MPI_DISTRIBUTE_CYCLIC;
      break;
    default:
      result.kind = MPI_DISTRIBUTE_CYCLIC;
      result.argument = random.between(1, 3);
      break;
  }
  return result;
}

/// The part of process `rank` in an array distributed over a row-major grid of processes (MPI 4.1,
/// 5.1.4: row-major for either order of the array).
Type part_of_process(std::vector<Distribution> distributions, int rank, int order,
                     const Type& child) {
  std::vector<int> globals;
  std::vector<int> kinds;
  std::vector<int> arguments;
  std::vector<int> processes;
  int size = 1;
  for (const Distribution& distribution : distributions) {
    globals.push_back(distribution.global);
    kinds.push_back(distribution.kind);
    arguments.push_back(distribution.argument);
    processes.push_back(distribution.processes);
    size *= distribution.processes;
  }
  int rest = rank;
  for (std::size_t dim = distributions.size(); dim > 0; --dim) {
    distributions[dim - 1].coordinate = rest % distributions[dim - 1].processes;
    rest /= distributions[dim - 1].processes;
  }
  Type type = part_of_array(child, globals, order, [&](const std::vector<int>& index) {
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (!distributions[dim].owns(index[dim])) {
        return false;
      }
    }
    return true;
  });
  MPI_Datatype handle;
  MPI_Type_create_darray(size, rank, static_cast<int>(globals.size()), globals.data(), kinds.data(),
                         arguments.data(), processes.data(), order, *child.handle, &handle);
  type.handle = own(handle);
  type.text = std::string("darray") + (order == MPI_ORDER_C ? "C" : "F") + "(" +
              std::to_string(rank) + "/" + std::to_string(size) + list(globals) + list(kinds) +
              list(arguments) + list(processes) + "," + child.text + ")";
  return type;
}

Type make_darray(Random& random, const TypeRequest&, const Type& child) {
  std::vector<Distribution> distributions;
  int size = 1;
  for (int dim = random.between(1, 3); dim > 0; --dim) {
    size *= distributions.emplace_back(random_distribution(random)).processes;
  }
  const int order = random.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  return part_of_process(distributions, random.below(size), order, child);
}

Type make_resized(Random& random, const TypeRequest& request, const Type& child) {
  const std::int64_t unit = request.unit_bytes;
  const std::int64_t span =
      child.true_upper_bound() - std::min<std::int64_t>(0, child.true_lower_bound());
  const std::int64_t extent = ((span + unit - 1) / unit + random.between(0, 3)) * unit;
  return resized(child, random.between(-3, 3) * unit, std::max(extent, unit));
}

Type make_dup(Random&, const TypeRequest&, const Type& child) {
  Type type = child;
  MPI_Datatype handle;
  MPI_Type_dup(*child.handle, &handle);
  type.handle = own(handle);
  type.text = "dup(" + child.text + ")";
  return type;
}

using Constructor = Type (*)(Random&, const TypeRequest&, const Type&);
constexpr std::array<Constructor, 12> constructors{
    make_contiguous, make_vector,        make_hvector,        make_indexed,
    make_hindexed,   make_indexed_block, make_hindexed_block, make_struct,
    make_subarray,   make_darray,        make_resized,        make_dup};

bool tiles_of_file(const Type& type) {
  std::int64_t end = 0;
  for (const Element& element : type.map) {
    if (element.offset < end) {
      return false;
    }
    end = element.offset + element.bytes;
  }
  return end - type.true_lower_bound() <= type.extent;
}

bool allowed(const Type& type, const TypeRequest& request) {
  if (type.map.empty() || static_cast<int>(type.map.size()) > request.elements_max ||
      std::abs(type.extent) > request.extent_max || type.extent <= 0) {
    return false;
  }
  if (!request.offsets && (type.true_lower_bound() != 0 || type.lower_bound != 0)) {
    return false;
  }
  return request.for_file ? tiles_of_file(type) : !overlaps(type, 3);
}

}  // namespace

std::int64_t Type::size() const {
  std::int64_t sum = 0;
  for (const Element& element : map) {
    sum += element.bytes;
  }
  return sum;
}

std::int64_t Type::true_lower_bound() const {
  std::int64_t low = map.empty() ? 0 : map.front().offset;
  for (const Element& element : map) {
    low = std::min(low, element.offset);
  }
  return low;
}

std::int64_t Type::true_upper_bound() const {
  std::int64_t high = map.empty() ? 0 : map.front().offset;
  for (const Element& element : map) {
    high = std::max(high, element.offset + element.bytes);
  }
  return high;
}

Type named(MPI_Datatype handle, const std::vector<Element>& map, std::int64_t extent,
           const char* text) {
  Type type;
  type.handle = std::make_shared<MPI_Datatype>(handle);
  type.map = map;
  type.extent = extent;
  type.text = text;
  return type;
}

Type contiguous(const Type& child, int count) {
  Type type = assemble({{0, count, &child}});
  MPI_Datatype handle;
  MPI_Type_contiguous(count, *child.handle, &handle);
  type.handle = own(handle);
  type.text = "contiguous(" + std::to_string(count) + "," + child.text + ")";
  return type;
}

Type resized(const Type& child, std::int64_t lower_bound, std::int64_t extent) {
  Type type = child;
  MPI_Datatype handle;
  MPI_Type_create_resized(*child.handle, static_cast<MPI_Aint>(lower_bound),
                          static_cast<MPI_Aint>(extent), &handle);
  type.handle = own(handle);
  type.lower_bound = lower_bound;
  type.extent = extent;
  type.text = "resized(" + std::to_string(lower_bound) + "," + std::to_string(extent) + "," +
              child.text + ")";
  return type;
}

bool overlaps(const Type& type, std::int64_t count) {
  std::vector<Element> all;
  for (std::int64_t tile = 0; tile < count; ++tile) {
    for (const Element& element : type.map) {
      all.push_back({tile * type.extent + element.offset, element.bytes});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Element& a, const Element& b) { return a.offset < b.offset; });
  for (std::size_t index = 1; index < all.size(); ++index) {
    if (all[index].offset < all[index - 1].offset + all[index - 1].bytes) {
      return true;
    }
  }
  return false;
}

Type random_type(Random& random, const TypeRequest& request) {
  Type type = request.leaf;
  const int depth = random.between(0, request.depth);
  for (int level = 0; level < depth; ++level) {
    // A type that exceeds the limits is drawn again, so that the nesting has the requested depth.
    for (int attempt = 0; attempt < 8; ++attempt) {
      const auto constructor =
          constructors[static_cast<std::size_t>(random.below(constructors.size()))];
      if (constructor == make_resized && !request.resized) {
        continue;
      }
      Type next = constructor(random, request, type);
      if (allowed(next, request)) {
        type = next;
        break;
      }
    }
  }
  MPI_Type_commit(type.handle.get());
  return type;
}

Type dealt_array(Random random, const Type& child, int rank, int size) {
  Distribution rows;
  Distribution columns;
  do {
    rows.processes = random.between(1, size);
  } while (size % rows.processes != 0);
  columns.processes = size / rows.processes;
  for (Distribution* distribution : {&rows, &columns}) {
    // Every process owns data: one block each, or cyclic blocks of one or two elements.
    const int block = random.between(1, 2);
    distribution->global = distribution->processes * block * (random.chance(50) ? 1 : 2);
    distribution->kind = random.chance(50) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    if (distribution->kind == MPI_DISTRIBUTE_CYCLIC) {
      distribution->argument = block;
    }
  }
  const int order = random.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  Type type = part_of_process({rows, columns}, rank, order, child);
  MPI_Type_commit(type.handle.get());
  return type;
}

std::string disagreement(const Type& type) {
  int size = 0;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower_bound = 0;
  MPI_Aint true_extent = 0;
  MPI_Type_size(*type.handle, &size);
  MPI_Type_get_extent(*type.handle, &lower_bound, &extent);
  MPI_Type_get_true_extent(*type.handle, &true_lower_bound, &true_extent);
  if (size == type.size() && lower_bound == type.lower_bound && extent == type.extent &&
      true_lower_bound == type.true_lower_bound() &&
      true_extent == type.true_upper_bound() - type.true_lower_bound()) {
    return "";
  }
  return "the MPI says size " + std::to_string(size) + " lb " + std::to_string(lower_bound) +
         " extent " + std::to_string(extent) + " true lb " + std::to_string(true_lower_bound) +
         " true extent " + std::to_string(true_extent) + ", by construction size " +
         std::to_string(type.size()) + " lb " + std::to_string(type.lower_bound) + " extent " +
         std::to_string(type.extent) + " true lb " + std::to_string(type.true_lower_bound()) +
         " true extent " + std::to_string(type.true_upper_bound() - type.true_lower_bound()) +
         " of " + type.text;
}

}  // namespace differential
