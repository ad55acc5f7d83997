// The mpi.h that this library is built with, and the types that an older one lacks. Nothing else
// includes <mpi.h>. Which MPI it is: OPEN_MPI is defined for Open MPI, MPI_ABI_VERSION for the
// standard ABI, neither for MPICH and its kin.
#ifndef NACRE_MPI_ABI_MPI_HEADER_H_
#define NACRE_MPI_ABI_MPI_HEADER_H_

#include <mpi.h>

extern "C" {
typedef int(MPI_Datarep_conversion_function_c)(void* userbuf, MPI_Datatype datatype,
                                               MPI_Count count, void* filebuf, MPI_Offset position,
                                               void* extra_state);
}

#endif  // NACRE_MPI_ABI_MPI_HEADER_H_
