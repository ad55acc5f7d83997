/* Preloaded into the ranks of MPICH 4.0.2 where they are on several hosts. Its MPI_Finalize (over
 * UCX 1.13) closes its connections and then waits outside of UCX for the other ranks, and to close
 * a TCP connection takes an answer from the other end: a rank that is late gets none and hangs, in
 * any program. So here the ranks meet first in a way in which none of them answers anything, and
 * each pair has had a message, so that all have something to wait for. */
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
