// The mpi.h of this library's ABI, and the types that an older mpi.h lacks. No other file includes
// <mpi.h>. It defines OPEN_MPI for Open MPI, MPI_ABI_VERSION for the standard ABI, and neither for
// MPICH and MPIs with its ABI.
#ifndef NACRE_MPI_ABI_MPI_HEADER_H_
#define NACRE_MPI_ABI_MPI_HEADER_H_

#include <mpi.h>

extern "C" {
typedef int(MPI_Datarep_conversion_function_c)(void* userbuf, MPI_Datatype datatype,
                                               MPI_Count count, void* filebuf, MPI_Offset position,
                                               void* extra_state);
}

#endif  // NACRE_MPI_ABI_MPI_HEADER_H_
