/* Atomic mode: if two ranks write the same noncontiguous bytes concurrently, the file contains all
 * bytes of one of them (MPI 4.1, 14.6.1). In the default mode, other ranks read the data that a
 * rank has written before sync, barrier, sync. */
#include "check.h"

enum { blocks = 200, block = 37, rounds = 20 };

static void overlapping(MPI_File file, int collective) {
  static unsigned char out[blocks * block];
  static unsigned char in[blocks * block];
  MPI_Status status;
  const int rank = check_rank(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    memset(out, 16 * (round % 8) + rank, sizeof out);
    if (collective) {
      check_ok(MPI_File_write_at_all(file, 0, out, sizeof out, MPI_BYTE, &status), "write_at_all");
    } else {
      check_ok(MPI_File_write_at(file, 0, out, sizeof out, MPI_BYTE, &status), "write_at");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_ok(MPI_File_read_at(file, 0, in, sizeof in, MPI_BYTE, &status), "read_at");
    for (size_t index = 1; index < sizeof in; ++index) {
      if (!check(in[index] == in[0], "round %d: byte %zu is of %d, byte 0 of %d", round, index,
                 in[index], in[0]))
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void after_sync(MPI_File file) {
  MPI_Status status;
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    int out = 1000 * round + rank;
    int in = -1;
    const int from = (rank + 1) % size;
    check_ok(MPI_File_write_at(file, 4 * rank, &out, 4, MPI_BYTE, &status), "write_at");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    check_ok(MPI_File_read_at(file, 4 * from, &in, 4, MPI_BYTE, &status), "read_at");
    if (!check(in == 1000 * round + from, "round %d: read %d of rank %d", round, in, from)) return;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Datatype strided;
  int flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &strided);
  MPI_Type_commit(&strided);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("atomic"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  after_sync(file);
  check_ok(MPI_File_set_view(file, 11, MPI_BYTE, strided, "native", MPI_INFO_NULL), "set_view");
  check_ok(MPI_File_set_atomicity(file, 1), "set_atomicity");
  check_ok(MPI_File_get_atomicity(file, &flag), "get_atomicity");
  check(flag, "atomicity was not set");
  overlapping(file, 0);
  overlapping(file, 1);
  check_ok(MPI_File_close(&file), "close");
  MPI_Type_free(&strided);
  return check_finish();
}
