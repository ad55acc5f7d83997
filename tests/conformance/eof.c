/* Reads that reach the end of the file, with every kind of call: the existing bytes are read, and
 * the status says how many. A read past the end reads nothing and is not an error. */
#include "check.h"

enum { there = 10 };

static void expect_status(MPI_Status* status, int bytes, const char* what) {
  int count = -1;
  int elements = -1;
  check(check_status_bytes(status) == bytes, "%s: the status says %d bytes, must be %d", what,
        check_status_bytes(status), bytes);
  MPI_Get_count(status, MPI_INT, &count);
  check(count == (bytes % 4 == 0 ? bytes / 4 : MPI_UNDEFINED), "%s: count of ints %d", what, count);
  MPI_Get_elements(status, MPI_SHORT, &elements);
  check(elements == bytes / 2, "%s: elements %d", what, elements);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Datatype strided;
  int in[20];
  MPI_Init(&argc, &argv);
  const char* path = check_path("eof");
  if (check_rank(MPI_COMM_WORLD) == 0) {
    FILE* stream = fopen(path, "wb");
    for (int index = 0; index < there; ++index) fwrite(&index, 4, 1, stream);
    fwrite("xy", 2, 1, stream);
    fclose(stream);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "open");
  check_ok(MPI_File_read_at(file, 0, in, 20, MPI_INT, &status), "read_at");
  expect_status(&status, 42, "read_at");
  check(in[9] == 9, "read_at: the last whole int is %d", in[9]);
  check_ok(MPI_File_read_at(file, 42, in, 20, MPI_INT, &status), "read_at at the end");
  expect_status(&status, 0, "read_at at the end");
  check_ok(MPI_File_read_at(file, 1LL << 40, in, 20, MPI_INT, &status), "read_at far past the end");
  expect_status(&status, 0, "read_at far past the end");
  check_ok(MPI_File_read_at_all(file, 36, in, 20, MPI_INT, &status), "read_at_all");
  expect_status(&status, 6, "read_at_all");
  const int last = check_rank(MPI_COMM_WORLD) == check_size(MPI_COMM_WORLD) - 1;
  check_ok(MPI_File_read_at_all(file, last ? 1000 : 0, in, 2, MPI_INT, &status),
           "read_at_all, one past the end");
  expect_status(&status, last ? 0 : 8, "read_at_all, one past the end");
  check_ok(MPI_File_iread_at(file, 40, in, 20, MPI_INT, &request), "iread_at");
  check_ok(MPI_Wait(&request, &status), "wait");
  expect_status(&status, 2, "iread_at");
  check_ok(MPI_File_read_at_all_begin(file, 32, in, 20, MPI_INT), "begin");
  check_ok(MPI_File_read_at_all_end(file, in, &status), "end");
  expect_status(&status, 10, "split");
  MPI_Type_vector(2, 1, 3, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  check_ok(MPI_File_set_view(file, 0, MPI_INT, strided, "native", MPI_INFO_NULL), "set_view");
  check_ok(MPI_File_read_at(file, 0, in, 20, MPI_INT, &status), "strided read_at");
  expect_status(&status, 20, "strided read_at"); /* ints 0, 3, 4, 7, 8; 11 is past the end */
  check(in[0] == 0 && in[1] == 3 && in[2] == 4 && in[3] == 7 && in[4] == 8,
        "strided read_at: wrong ints");
  check_ok(MPI_File_read_all(file, in, 20, MPI_INT, &status), "strided read_all");
  expect_status(&status, 20, "strided read_all");
  MPI_Type_free(&strided);
  check_ok(MPI_File_close(&file), "close");
  return check_finish();
}
