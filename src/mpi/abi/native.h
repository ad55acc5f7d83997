// The MPI underneath: every MPI function and predefined handle that Nacre uses, found at run time
// in the MPI library that the process already holds. The library names no MPI symbol: what needs
// one (MPI_COMM_SELF under Open MPI, MPI_COMM_NULL_COPY_FN, any MPI_ or PMPI_ call) does not link.
// Constants that are numbers or null pointers in every mpi.h (MPI_SUCCESS, MPI_MODE_*,
// MPI_STATUS_IGNORE, MPI_IN_PLACE) are used as they are.
#ifndef NACRE_MPI_ABI_NATIVE_H_
#define NACRE_MPI_ABI_NATIVE_H_

#include "mpi/abi/mpi_header.h"

// First the MPI's types, then what is generated of them.
#include "mpi/abi/native.gen.h"

namespace nacre::mpi {

/// The functions and handles of the MPI underneath, e.g. `native().Comm_rank(comm, &rank)`.
/// Functions are the MPI library's own PMPI_ ones, past every tool. Those listed as optional or
/// extensions in table.toml (Native::..._c, MPIX_...) are null where the MPI has none; the others
/// never are. Predefined datatypes that the MPI lacks are DATATYPE_NULL.
///
/// Resolved at the first call; thread-safe. Where the process holds no MPI of this library's ABI,
/// one line on stderr says so and every function returns MPI_ERR_INTERN; a later call looks again.
[[nodiscard]] const Native& native();

/// The program has called MPI_Init and not yet MPI_Finalize: MPI_COMM_WORLD and MPI_COMM_SELF
/// exist. False in programs that use only Sessions.
[[nodiscard]] bool world_model_active();

/// MPI_Finalize has begun: Nacre must not touch MPI objects any more. MPI_File_open sees to it that
/// note_finalizing() is called.
[[nodiscard]] bool mpi_is_finalizing();
void note_finalizing();

}  // namespace nacre::mpi

/// For the dispatcher: a function that Nacre needs and the process's MPI has not (one older than
/// MPI-3.1, or linked into the program in part), or null. Then the library is of no use.
extern "C" [[gnu::visibility("default")]] const char* nacre_missing_function();

#endif  // NACRE_MPI_ABI_NATIVE_H_
