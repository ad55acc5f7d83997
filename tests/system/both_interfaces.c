// Writes DIRECTORY/data by MPI-IO, 1,000 bytes a rank, and rank 0 DIRECTORY/log by stdio, 5 bytes.
#include <mpi.h>

#include <stdio.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank;
  char bytes[1000] = {0};
  char path[1000];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/log", arguments[1]);
  FILE* log = fopen(path, rank == 0 ? "w" : "r+");
  if (rank == 0) fprintf(log, "begin");
  if (log) fclose(log);
  MPI_File file;
  snprintf(path, sizeof path, "%s/data", arguments[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, 1000 * rank, bytes, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
}
