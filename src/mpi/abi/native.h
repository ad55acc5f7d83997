// The MPI underneath: all MPI functions and predefined handles that Nacre uses, found at run time
// in the MPI library that the process has loaded. Nacre refers to no symbol of MPI: code that needs
// one (MPI_COMM_SELF under Open MPI, MPI_COMM_NULL_COPY_FN, any MPI_ or PMPI_ call) does not link.
// Nacre uses constants that are numbers or null pointers in every mpi.h (MPI_SUCCESS, MPI_MODE_*,
// MPI_STATUS_IGNORE, MPI_IN_PLACE) directly.
#ifndef NACRE_MPI_ABI_NATIVE_H_
#define NACRE_MPI_ABI_NATIVE_H_

#include "mpi/abi/mpi_header.h"

// Generated; needs the types of mpi.h.
#include "mpi/abi/native.gen.h"

namespace nacre::mpi {

/// The functions and handles of the MPI underneath, e.g. `native().Comm_rank(comm, &rank)`.
/// The functions are the MPI library's PMPI_ ones, so that tools do not see Nacre's calls. Optional
/// functions and extensions in table.toml (Native::..._c, MPIX_...) are null if the MPI lacks them;
/// others never are. Predefined datatypes that the MPI lacks are DATATYPE_NULL.
///
/// Resolved at the first call; thread-safe. If the process has no MPI of this library's ABI, one
/// line on stderr says so and every function returns MPI_ERR_INTERN; the next call searches again.
[[nodiscard]] const Native& native();

/// The program has called MPI_Init and not yet MPI_Finalize: MPI_COMM_WORLD and MPI_COMM_SELF
/// exist. False in programs that use only Sessions.
[[nodiscard]] bool world_model_active();

/// MPI_Finalize has begun: Nacre must not touch MPI objects any more. MPI_File_open sees to it that
/// note_finalizing() is called.
[[nodiscard]] bool mpi_is_finalizing();
void note_finalizing();

}  // namespace nacre::mpi

/// For the dispatcher: a function that Nacre needs and the process's MPI lacks, or null. Such an
/// MPI is older than MPI-3.1, or is linked into the program in part, and the library cannot serve
/// it.
extern "C" [[gnu::visibility("default")]] const char* nacre_missing_function();

#endif  // NACRE_MPI_ABI_NATIVE_H_
