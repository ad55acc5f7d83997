/* Faults that the library injects. It reads NACRE_TEST_FAULTS at open:
 *   rank=2,write=3,errno=ENOSPC      the third write of rank 2 fails
 *   rank=0,byte=1048576,errno=EIO    accesses of rank 0 to that byte of the file fail
 * Every rank then returns the same error class from the collective call with the fault, or at the
 * latest from the close, and no rank hangs. Arguments: the expected class (NO_SPACE, IO, QUOTA) and
 * the faults, joined by '+'. Without arguments there are no faults. */
#include "check.h"

enum { block = 1 << 18, rounds = 8 };

static int class_named(const char* name) {
  if (strcmp(name, "NO_SPACE") == 0) return MPI_ERR_NO_SPACE;
  if (strcmp(name, "QUOTA") == 0) return MPI_ERR_QUOTA;
  return MPI_ERR_IO;
}

static void order(const char* text) {
  char joined[256];
  snprintf(joined, sizeof joined, "%s", text);
  for (char* plus = joined; (plus = strchr(plus, '+')) != NULL;) *plus = ';';
  setenv("NACRE_TEST_FAULTS", joined, 1);
}

/* The class of `code`, the same on all ranks. */
static int agreed(int code, const char* what) {
  int found = MPI_SUCCESS;
  int first;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  first = found;
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(first == found, "%s: class %d on rank 0, %d here", what, first, found);
  return found;
}

/* A fault plan that is invalid on one rank only. */
static void misunderstood(void) {
  MPI_File file;
  if (getenv("NACRE_TEST_EXPECT") == NULL) return;
  if (check_rank(MPI_COMM_WORLD) == check_size(MPI_COMM_WORLD) - 1) order("write=often");
  const int found = agreed(MPI_File_open(MPI_COMM_WORLD, check_path("faults-misunderstood"),
                                         MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
                           "open");
  check(found == MPI_ERR_ARG, "open with an order of nonsense: class %d", found);
  unsetenv("NACRE_TEST_FAULTS");
}

int main(int argc, char** argv) {
  static char out[block];
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Datatype strided;
  MPI_Datatype slice;
  int failed = 0;
  MPI_Init(&argc, &argv);
  const int expected = class_named(argc > 1 ? argv[1] : "IO");
  if (argc <= 2) misunderstood();
  if (argc > 2) order(argv[2]);
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  memset(out, 'f', sizeof out);
  MPI_Info info;
  check_ok(MPI_Info_create(&info), "info create");
  // Each rank writes, on Lustre too, where domains are whole stripes.
  check_ok(MPI_Info_set(info, "cb_nodes", "3"), "info set");
  check_ok(MPI_Info_set(info, "striping_unit", "65536"), "info set");
  check_ok(MPI_Info_set(info, "striping_factor", "1"), "info set");
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("faults"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         info, &file),
           "open");
  check_ok(MPI_Info_free(&info), "info free");
  MPI_Type_vector(block / 1024, 1024, 1024 * size, MPI_BYTE, &strided);
  MPI_Type_create_resized(strided, 0, (MPI_Aint)block * size, &slice);
  MPI_Type_free(&strided);
  MPI_Type_commit(&slice);
  check_ok(MPI_File_set_view(file, 1024 * rank, MPI_BYTE, slice, "native", MPI_INFO_NULL),
           "set_view");
  for (int round = 0; round < rounds; ++round) {
    int code;
    if (round % 2 == 0) {
      code = MPI_File_write_all(file, out, block, MPI_BYTE, &status);
    } else {
      code = MPI_File_iwrite_all(file, out, block, MPI_BYTE, &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    }
    const int found = agreed(code, "write_all");
    if (found != MPI_SUCCESS) {
      check(found == expected, "round %d: class %d, must be %d", round, found, expected);
      ++failed;
    }
  }
  MPI_Type_free(&slice);
  if (agreed(MPI_File_sync(file), "sync") != MPI_SUCCESS) ++failed;
  if (agreed(MPI_File_close(&file), "close") != MPI_SUCCESS) ++failed;
  check(argc <= 2 ? failed == 0 : failed > 0, "%d calls failed", failed);
  return check_finish();
}
