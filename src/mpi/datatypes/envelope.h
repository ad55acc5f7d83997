// The envelope of a datatype: its constructor, and the numbers of its arguments.
#ifndef NACRE_MPI_DATATYPES_ENVELOPE_H_
#define NACRE_MPI_DATATYPES_ENVELOPE_H_

#include "base/result.h"
#include "mpi/datatypes/datatype.h"

namespace nacre::mpi {

struct Envelope {
  MPI_Count integer_count = 0;
  MPI_Count address_count = 0;
  MPI_Count large_count = 0;
  MPI_Count type_count = 0;
  int combiner = 0;
};

/// Calls MPI_Type_get_envelope_c if the MPI has it: MPI_Type_get_envelope fails for types of the
/// constructors with large counts, such as MPI_Type_vector_c, and MPICH then ends the program.
[[nodiscard]] Result<Envelope> envelope_of(MPI_Datatype datatype);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_DATATYPES_ENVELOPE_H_
