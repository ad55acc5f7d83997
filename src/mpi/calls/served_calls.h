// How many MPI-IO calls of this process Nacre has served: for nacre_calls_served() and reports.
#ifndef NACRE_MPI_CALLS_SERVED_CALLS_H_
#define NACRE_MPI_CALLS_SERVED_CALLS_H_

#include <cstdint>

namespace nacre::mpi {

void count_served_call();
[[nodiscard]] std::uint64_t served_call_count();

}  // namespace nacre::mpi

#endif  // NACRE_MPI_CALLS_SERVED_CALLS_H_
