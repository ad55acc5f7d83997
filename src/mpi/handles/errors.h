// Errors on their way to the program: Nacre's classes as the MPI's numbers, codes with readable
// strings, and the file's error handler.
#ifndef NACRE_MPI_HANDLES_ERRORS_H_
#define NACRE_MPI_HANDLES_ERRORS_H_

#include "base/result.h"
#include "mpi/abi/native.h"

namespace nacre::mpi {

/// The MPI's number of a class. The only translation from Nacre's errors to MPI's.
[[nodiscard]] int class_of(ErrorClass error_class);

/// A code of the right class whose string MPI_Error_string tells. Codes are a few per class, used
/// again in turn (MPICH has room for 8,191 in all), so a string is that of the code's latest error.
[[nodiscard]] int code_of(const Error& error);

/// Reports `error` to the handler of `handle` (MPI_FILE_NULL for a file that could not be opened)
/// and returns the code that the MPI call returns, if the handler returned.
int raise(MPI_File handle, const Error& error);

/// MPI_SUCCESS, or as raise().
int raise_if_failed(MPI_File handle, const Status& status);

/// MPI_Error_string: ours by ourselves, the others by the MPI.
int error_string(int code, char* string, int* length);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_ERRORS_H_
