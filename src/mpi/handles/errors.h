// Reports Nacre's errors to the program: as an MPI error code with a readable string, through the
// file's error handler.
#ifndef NACRE_MPI_HANDLES_ERRORS_H_
#define NACRE_MPI_HANDLES_ERRORS_H_

#include "base/result.h"
#include "mpi/abi/native.h"

namespace nacre::mpi {

/// An MPI error code of the error's class; MPI_Error_string returns the error's message for it. A
/// class reuses a few codes in turn (MPICH has room for 8,191 in all), so a code has the message of
/// its latest error.
[[nodiscard]] int code_of(const Error& error);

/// Calls the error handler of `handle` (MPI_FILE_NULL if the file was not opened) with `error`, and
/// returns the code for the MPI call to return.
int raise(MPI_File handle, const Error& error);

/// MPI_SUCCESS, or as raise().
int raise_if_failed(MPI_File handle, const Status& status);

/// MPI_Error_string, for Nacre's codes and the MPI's.
int error_string(int code, char* string, int* length);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_ERRORS_H_
