// Error handlers of files. Under native handles they are the MPI's own, of any language; under
// handles of our own (programs that use only Sessions) they are the predefined ones and those made
// from C.
#ifndef NACRE_MPI_HANDLES_ERRHANDLERS_H_
#define NACRE_MPI_HANDLES_ERRHANDLERS_H_

#include <string>

#include "mpi/abi/native.h"

namespace nacre::mpi {

/// Calls the error handler of `handle` (or of MPI_FILE_NULL) with `code`. Before a handler that
/// ends the program, says `message` on stderr: the MPI would only show its class.
void call_errhandler(MPI_File handle, int code, const std::string& message);

/// What a handle of our own knows of its error handler.
struct OwnErrhandler {
  MPI_Errhandler errhandler;
  MPI_File_errhandler_function* function = nullptr;  ///< null: a predefined one
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
