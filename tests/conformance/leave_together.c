/* Preloaded into the ranks of MPICH 4.0.2 on several hosts. Its MPI_Finalize (over UCX 1.13) closes
 * its connections and then waits for other ranks without progressing UCX. Closing a TCP connection
 * needs an answer of the peer, so a late rank gets none and hangs, in any program. This library
 * makes every pair of ranks exchange a message, and then synchronizes all ranks before
 * MPI_Finalize. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void mark_path(char* path, size_t bytes, int rank) {
  snprintf(path, bytes, "%s/leaves-%d", getenv("NACRE_TEST_SCRATCH"), rank);
}

int MPI_Finalize(void) {
  int rank = 0;
  int size = 0;
  char path[1024];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int distance = 1; distance < size; distance++) {
    const int nothing = 0;
    int received = 0;
    PMPI_Sendrecv(&nothing, 1, MPI_INT, (rank + distance) % size, 0, &received, 1, MPI_INT,
                  (rank - distance + size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  mark_path(path, sizeof path, rank);
  fclose(fopen(path, "w"));
  for (int other = 0; other < size; other++) {
    mark_path(path, sizeof path, other);
    while (access(path, F_OK) != 0) usleep(1000);
  }
  return PMPI_Finalize();
}
