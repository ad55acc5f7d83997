// Large-count calls for the MPI's own files, over MPIs that have only the classic calls.
#ifndef NACRE_MPI_CALLS_FORWARD_H_
#define NACRE_MPI_CALLS_FORWARD_H_

#include <functional>

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// Calls `classic(n, type)` for the data of `count` elements of `datatype`. If the count exceeds an
/// int, passes 1 and a derived datatype, freed on return (an MPI keeps it for pending operations).
/// Returns the code of `classic`, or of the MPI if it cannot make the datatype.
int forward_large(MPI_Count count, MPI_Datatype datatype,
                  const std::function<int(int, MPI_Datatype)>& classic);

/// MPI_File_get_type_extent_c over the classic call.
int forward_file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_FORWARD_H_
