// Subarray and darray as type maps (MPI-4.1, 5.1.3 and 5.1.4), both orders, all distributions.
#ifndef NACRE_PLAN_TYPES_ARRAY_TYPES_H_
#define NACRE_PLAN_TYPES_ARRAY_TYPES_H_

#include <cstdint>
#include <span>

#include "base/result.h"
#include "plan/types/type_map.h"

namespace nacre::plan {

enum class ArrayOrder : std::uint8_t { c, fortran };
enum class Distribution : std::uint8_t { block, cyclic, none };

/// One dimension of a subarray, counts in elements.
struct SubarrayDimension {
  std::int64_t size = 0;
  std::int64_t subsize = 0;
  std::int64_t start = 0;
};

/// One dimension of a darray. argument = default_argument is MPI_DISTRIBUTE_DFLT_DARG.
struct DarrayDimension {
  static constexpr std::int64_t default_argument = -1;
  std::int64_t global_size = 0;
  Distribution distribution = Distribution::none;
  std::int64_t argument = default_argument;
  std::int64_t process_count = 1;
  std::int64_t process_coordinate = 0;
};

/// The extent is the whole array. Dimensions are in the order of the program.
[[nodiscard]] Result<TypeMap> subarray(std::span<const SubarrayDimension> dimensions,
                                       ArrayOrder order, const TypeMap& element);

/// The extent is the whole global array.
[[nodiscard]] Result<TypeMap> darray(std::span<const DarrayDimension> dimensions, ArrayOrder order,
                                     const TypeMap& element);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_ARRAY_TYPES_H_
