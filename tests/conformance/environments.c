/* Ranks with different environments, for example from a launcher's options or a wrapper script: no
 * rank hangs, all ranks open the same file, and the environment of rank 0 counts. */
#include <stdlib.h>

#include "check.h"

static void write_and_read(const char* name) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const int from = (rank + 1) % size;
  int in = -1;
  MPI_File file;
  MPI_Status status;
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           name);
  check_ok(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, &status),
           name);
  check_ok(MPI_File_sync(file), name);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_sync(file), name);
  check_ok(MPI_File_read_at_all(file, from * (MPI_Offset)sizeof in, &in, 1, MPI_INT, &status),
           name);
  check(in == from, "%s: read %d instead of %d", name, in, from);
  check_ok(MPI_File_close(&file), name);
}

/* Sets the variable on `on` ranks only. */
static void with(const char* variable, const char* value, int on, const char* name) {
  unsetenv(variable);
  if (on) setenv(variable, value, 1);
  write_and_read(name);
  unsetenv(variable);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int first = check_rank(MPI_COMM_WORLD) == 0;
  with("NACRE_DISABLE", "1", !first, "environments-disabled-on-others");
  with("NACRE_DISABLE", "1", first, "environments-disabled-on-first");
  with("NACRE_DISABLE", "", first, "environments-disabled-by-nothing");
  with("NACRE_EXCLUDE", "*excluded*", !first, "environments-excluded-on-others");
  with("NACRE_EXCLUDE", "*excluded*", first, "environments-excluded-on-first");
  with("NACRE_HINTS", "*:cb_nodes=1:cb_buffer_size=1k", !first, "environments-hints-on-others");
  with("NACRE_HINTS", "*:cb_nodes=1:cb_buffer_size=1k", first, "environments-hints-on-first");
  return check_finish();
}
