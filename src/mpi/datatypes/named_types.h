// The predefined datatypes: layout in memory, basic types, size in external32.
#ifndef NACRE_MPI_DATATYPES_NAMED_TYPES_H_
#define NACRE_MPI_DATATYPES_NAMED_TYPES_H_

#include <memory>

#include "base/result.h"
#include "mpi/datatypes/datatype.h"

namespace nacre::mpi {

/// Looks up a predefined datatype. nullptr for derived datatypes, and for those without a fixed C
/// or Fortran meaning, which named_type() takes as plain bytes. Fast: a hash look-up.
[[nodiscard]] const std::shared_ptr<const DecodedType>* find_named_type(MPI_Datatype datatype);

/// As find_named_type(), for any datatype that the MPI calls predefined.
[[nodiscard]] Result<DecodedType> named_type(MPI_Datatype datatype);

/// True for predefined datatypes, which nobody frees.
[[nodiscard]] bool is_named(MPI_Datatype datatype);
/// A datatype with this combiner has no constructor to read.
[[nodiscard]] bool is_named_combiner(int combiner);

/// Bytes of a named datatype in external32.
[[nodiscard]] Result<MPI_Count> external32_extent(MPI_Datatype named);

/// A value and an index, laid out as the C struct {value; index}.
[[nodiscard]] Result<DecodedType> pair_type(const DecodedType& value, const DecodedType& index);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_NAMED_TYPES_H_
