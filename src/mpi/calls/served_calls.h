// The count of MPI-IO calls that Nacre serves, for nacre_calls_served().
#ifndef NACRE_MPI_CALLS_SERVED_CALLS_H_
#define NACRE_MPI_CALLS_SERVED_CALLS_H_

namespace nacre::mpi {

void count_served_call();

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_SERVED_CALLS_H_
