// Random datatypes with their type maps. The type maps are computed here, element by element, from
// the definitions of the constructors in the MPI standard, without the MPI or the library under
// test.
#ifndef NACRE_TESTS_DIFFERENTIAL_TYPES_H_
#define NACRE_TESTS_DIFFERENTIAL_TYPES_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "random.h"

namespace differential {

/// One basic element: its offset from the origin of the datatype.
struct Element {
  std::int64_t offset;
  std::int64_t bytes;
  std::int64_t parts = 1;  ///< 2 for a complex: external32 converts each part separately
};

/// A datatype: the handle of the MPI and its expected type map. Copies share the handle; the last
/// copy frees it.
struct Type {
  std::shared_ptr<MPI_Datatype> handle;
  std::vector<Element> map;  ///< in type map order
  std::int64_t lower_bound = 0;
  std::int64_t extent = 0;
  std::string text;  ///< its constructors

  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t true_lower_bound() const;
  [[nodiscard]] std::int64_t true_upper_bound() const;
};

/// A predefined datatype and its elements.
Type named(MPI_Datatype handle, const std::vector<Element>& map, std::int64_t extent,
           const char* text);

/// The constructors and types to use.
struct TypeRequest {
  Type leaf;
  int depth = 4;
  bool for_file =
      false;  ///< monotone, not overlapping, no negative offset, gaps a multiple of `unit_bytes`
  std::int64_t unit_bytes = 1;
  int elements_max = 40;
  std::int64_t extent_max = 2048;
  bool resized = true;  ///< MPI_Type_create_resized with lower bounds of any sign, at any level
  bool offsets = true;  ///< the first byte need not be at the origin
};

/// A committed datatype of at least one element.
Type random_type(Random& random, const TypeRequest& request);

Type contiguous(const Type& child, int count);
/// Its tiles are at least `extent` bytes apart, whatever its own extent.
Type resized(const Type& child, std::int64_t lower_bound, std::int64_t extent);

/// What process `rank` of `size` has of a 2-D array dealt to all of them. Drawn alike for every
/// rank, as `random` is a copy; every process has at least one child of it.
Type dealt_array(Random random, const Type& child, int rank, int size);

/// Whether `count` tiles of the type touch some byte twice.
bool overlaps(const Type& type, std::int64_t count);

/// Empty, or in what way the MPI's own size and extents of the handle differ from the map's.
std::string disagreement(const Type& type);

}  // namespace differential

#endif  // NACRE_TESTS_DIFFERENTIAL_TYPES_H_
