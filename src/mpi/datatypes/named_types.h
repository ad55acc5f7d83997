// The predefined datatypes: layout in memory, basic types, size in external32.
#ifndef NACRE_MPI_DATATYPES_NAMED_TYPES_H_
#define NACRE_MPI_DATATYPES_NAMED_TYPES_H_

#include <memory>

#include "base/result.h"
#include "mpi/datatypes/datatype.h"

namespace nacre::mpi {

/// What a predefined datatype is, or nullptr for derived ones and those without a fixed C or
/// Fortran meaning in the table (which named_type() takes as plain bytes of their size). Fast: a
/// hash look-up.
[[nodiscard]] const std::shared_ptr<const DecodedType>* find_named_type(MPI_Datatype datatype);

/// As find_named_type, for any datatype that the MPI says is predefined.
[[nodiscard]] Result<DecodedType> named_type(MPI_Datatype datatype);

/// A value and an index, laid out as the C struct {value; index}.
[[nodiscard]] Result<DecodedType> pair_type(const DecodedType& value, const DecodedType& index);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_NAMED_TYPES_H_
