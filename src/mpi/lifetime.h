// Where the MPI underneath is in its life, as far as Nacre has to know.
#ifndef NACRE_MPI_LIFETIME_H_
#define NACRE_MPI_LIFETIME_H_

namespace nacre::mpi {

/// Asks to be told when MPI_Finalize begins (by the deletion of an attribute of MPI_COMM_SELF,
/// which the standard puts before everything else). Called at the first open; does nothing in
/// programs that use only Sessions, whose MPI_COMM_SELF does not exist.
void watch_finalize();

/// MPI_Init was called and MPI_Finalize not: MPI_COMM_WORLD and MPI_COMM_SELF exist.
[[nodiscard]] bool world_model_active();

/// MPI_Finalize has begun or ended: no MPI object of ours is to be touched any more.
[[nodiscard]] bool mpi_is_finalizing();

}  // namespace nacre::mpi

#endif  // NACRE_MPI_LIFETIME_H_
