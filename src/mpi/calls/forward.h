// Large-count calls for files that are not ours, over MPIs that have only the classic ones.
#ifndef NACRE_MPI_CALLS_FORWARD_H_
#define NACRE_MPI_CALLS_FORWARD_H_

#include <functional>

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// Calls `classic(n, type)` with a count that fits an int and the same data as `count` of
/// `datatype`: as they are where the count fits, else one of a derived datatype, which is freed
/// before the return (an MPI keeps it for pending operations). Returns what `classic` does, or why
/// the type could not be made.
int forward_large(MPI_Count count, MPI_Datatype datatype,
                  const std::function<int(int, MPI_Datatype)>& classic);

/// MPI_File_get_type_extent_c over the classic call.
int forward_file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_FORWARD_H_
