// Error handlers of files. The MPI keeps the handlers, in any language, of native file handles.
// Nacre keeps those of its own handles (programs that use only Sessions): predefined ones and those
// created from C.
#ifndef NACRE_MPI_HANDLES_ERRHANDLERS_H_
#define NACRE_MPI_HANDLES_ERRHANDLERS_H_

#include <string>

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// Calls the error handler of `handle` (or of MPI_FILE_NULL) with `code`. If the handler ends the
/// program, first prints `message` on stderr: the MPI would only print the error class.
void call_errhandler(MPI_File handle, int code, const std::string& message);

/// The error handler of one of Nacre's own handles.
struct OwnErrhandler {
  MPI_Errhandler errhandler;
  MPI_File_errhandler_function* function = nullptr;  ///< null: predefined
};

/// The handler that files inherit at open.
[[nodiscard]] OwnErrhandler inherited_errhandler();

// As the MPI's calls, for every file.
int file_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler);
int file_set_errhandler(MPI_File fh, MPI_Errhandler errhandler);
int file_get_errhandler(MPI_File fh, MPI_Errhandler* errhandler);
int file_call_errhandler(MPI_File fh, int errorcode);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_ERRHANDLERS_H_
