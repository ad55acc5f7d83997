/* Writes a byte for each rank to the file argv[1]; rank 0 prints Nacre's version and commit, and
 * whether it has served calls. */
#include <mpi.h>

#include <nacre/nacre.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_File file;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (rank == 0) printf("%s %s %d\n", nacre_version(), nacre_commit(), nacre_calls_served() > 0);
  return MPI_Finalize();
}
