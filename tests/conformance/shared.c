/* The shared pointer under contention. Every rank appends records as fast as it can: no record is
 * lost, torn or written twice, and the pointer ends after the last record. Then all ranks read by
 * the shared pointer, and each record is read once. */
#include "check.h"

enum { records = 50, record_ints = 3 };

/* Each open makes a new shared pointer, to which the other ranks attach while the first ones
 * already move it. On ceph-fuse this hung in one of the first opens. */
static void write_in_many_opens(const char* path, int opens) {
  enum { writes = 3 };
  const int size = check_size(MPI_COMM_WORLD);
  for (int i = 0; i < opens; ++i) {
    MPI_File file;
    MPI_Offset position = -1;
    check_ok(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        "open again");
    for (int k = 0; k < writes; ++k) {
      check_ok(MPI_File_write_shared(file, &i, 1, MPI_INT, MPI_STATUS_IGNORE), "write_shared");
    }
    check_ok(MPI_File_write_ordered(file, &i, 1, MPI_INT, MPI_STATUS_IGNORE), "write_ordered");
    MPI_Barrier(MPI_COMM_WORLD);
    check_ok(MPI_File_get_position_shared(file, &position), "get_position_shared");
    check(position == (MPI_Offset)(writes + 1) * size * (MPI_Offset)sizeof(int),
          "open %d: the shared pointer is at %lld", i, (long long)position);
    check_ok(MPI_File_close(&file), "close");
  }
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Offset position = -1;
  MPI_Init(&argc, &argv);
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const int total = size * records;
  int* seen = calloc((size_t)total, sizeof *seen);
  int* all = calloc((size_t)total, sizeof *all);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("shared"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  check_ok(MPI_File_set_view(file, 5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "set_view");
  for (int index = 0; index < records; ++index) {
    const int id = rank * records + index;
    int record[record_ints] = {id, -id, id ^ 0x5555};
    if (index % 2 == 0) {
      check_ok(MPI_File_write_shared(file, record, record_ints, MPI_INT, &status), "write_shared");
    } else {
      check_ok(MPI_File_iwrite_shared(file, record, record_ints, MPI_INT, &request),
               "iwrite_shared");
      check_ok(MPI_Wait(&request, &status), "wait");
    }
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  check_ok(MPI_File_get_position_shared(file, &position), "get_position_shared");
  check(position == (MPI_Offset)total * record_ints, "the shared pointer is at %lld",
        (long long)position);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
  for (int index = 0; index < records; ++index) {
    int record[record_ints] = {-1, 0, 0};
    check_ok(MPI_File_read_shared(file, record, record_ints, MPI_INT, &status), "read_shared");
    const int id = record[0];
    if (check(id >= 0 && id < total && record[1] == -id && record[2] == (id ^ 0x5555),
              "a torn record %d", id))
      ++seen[id];
  }
  MPI_Allreduce(seen, all, total, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int id = 0; id < total; ++id) {
    if (!check(all[id] == 1, "record %d was read %d times", id, all[id])) break;
  }
  check_ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
  int mine[2] = {rank, rank};
  check_ok(MPI_File_write_ordered(file, mine, rank % 2 + 1, MPI_INT, &status), "write_ordered");
  check_ok(MPI_File_get_position_shared(file, &position), "get_position_shared");
  check(position == size + size / 2, "after write_ordered the shared pointer is at %lld",
        (long long)position);
  free(seen);
  free(all);
  check_ok(MPI_File_close(&file), "close");
  write_in_many_opens(check_path("shared"), 10);
  return check_finish();
}
