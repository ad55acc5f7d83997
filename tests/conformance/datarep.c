/* Data representations: external32's bytes as the standard lays them down (MPI 4.1, 14.5.2),
 * internal, and one registered by the program, whose functions are called with the datatypes and
 * sizes that they must be. */
#include <stdint.h>

#include "check.h"

static MPI_File open_file(const char* name) {
  MPI_File file = MPI_FILE_NULL;
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  return file;
}

static void external32(void) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_File file = open_file("datarep-external32");
  MPI_Status status;
  MPI_Aint extent = 0;
  int32_t out[3] = {0x01020304, rank, -1};
  int32_t in[3] = {0, 0, 0};
  unsigned char bytes[4] = {0};
  const double number = 1.5;
  double back = 0;
  check_ok(MPI_File_set_view(file, 0, MPI_INT32_T, MPI_INT32_T, "external32", MPI_INFO_NULL),
           "external32 of int32");
  check_ok(MPI_File_get_type_extent(file, MPI_LONG, &extent), "get_type_extent");
  check(extent == 4, "a long's extent in external32 is %ld", (long)extent);
  check_ok(MPI_File_write_at_all(file, 3 * rank, out, 3, MPI_INT32_T, &status), "write_at_all");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_read_at_all(file, 3 * rank, in, 3, MPI_INT32_T, &status), "read_at_all");
  check(memcmp(in, out, sizeof in) == 0, "external32 comes back as %x %x %x", in[0], in[1], in[2]);
  check(check_status_bytes(&status) == 12, "the status says %d bytes", check_status_bytes(&status));
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "native");
  check_ok(MPI_File_read_at(file, 12 * rank, bytes, 4, MPI_BYTE, &status), "read_at");
  check(bytes[0] == 1 && bytes[1] == 2 && bytes[2] == 3 && bytes[3] == 4,
        "external32 is not big-endian");
  check_ok(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL),
           "external32 of double");
  check_ok(MPI_File_write_at(file, 100 + rank, &number, 1, MPI_DOUBLE, &status), "write_at");
  check_ok(MPI_File_read_at(file, 100 + rank, &back, 1, MPI_DOUBLE, &status), "read_at");
  check(back == number, "1.5 comes back as %g", back);
  check_ok(MPI_File_close(&file), "close");
}

static void internal(void) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_File file = open_file("datarep-internal");
  MPI_Status status;
  double number = 2.5 + rank;
  double back = 0;
  check_ok(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "internal", MPI_INFO_NULL),
           "internal");
  check_ok(MPI_File_write_at_all(file, rank, &number, 1, MPI_DOUBLE, &status), "write_at_all");
  check_ok(MPI_File_read_at_all(file, rank, &back, 1, MPI_DOUBLE, &status), "read_at_all");
  check(back == number, "internal: %g comes back as %g", number, back);
  check_ok(MPI_File_close(&file), "close");
}

/* The program's own: every int takes eight bytes in the file, the value first in little-endian,
 * then "nacr". */
static int extent_calls = 0;
static char state_text[] = "state";

static int wide_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  (void)datatype;
  ++extent_calls;
  *extent = 8;
  return state == state_text ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int wide_read(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                     void* state) {
  (void)datatype;
  for (int index = 0; index < count; ++index) {
    memcpy((char*)user + 4 * (position + index), (char*)file + 8 * index, 4);
    if (memcmp((char*)file + 8 * index + 4, "nacr", 4) != 0) return MPI_ERR_CONVERSION;
  }
  return state == state_text ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int wide_write(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                      void* state) {
  (void)datatype;
  for (int index = 0; index < count; ++index) {
    memcpy((char*)file + 8 * index, (char*)user + 4 * (position + index), 4);
    memcpy((char*)file + 8 * index + 4, "nacr", 4);
  }
  return state == state_text ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void registered(void) {
  enum { count = 1000 };
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_File file;
  MPI_Status status;
  int out[count];
  int in[count];
  unsigned char bytes[8] = {0};
  if (!check_ok(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, state_text),
                "register_datarep"))
    return;
  check_class(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, state_text),
              MPI_ERR_DUP_DATAREP, "registered twice");
  for (int index = 0; index < count; ++index) out[index] = rank * count + index, in[index] = -1;
  file = open_file("datarep-wide");
  check_ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "wide", MPI_INFO_NULL),
           "a registered representation");
  check(extent_calls > 0, "the extent function was never called");
  check_ok(MPI_File_write_at_all(file, rank * count, out, count, MPI_INT, &status),
           "write_at_all, converted");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_read_at_all(file, rank * count, in, count, MPI_INT, &status),
           "read_at_all, converted");
  check(memcmp(in, out, sizeof in) == 0, "the registered representation does not come back");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "native");
  check_ok(MPI_File_read_at(file, 8 * (rank * count + 7), bytes, 8, MPI_BYTE, &status), "read_at");
  check(memcmp(bytes + 4, "nacr", 4) == 0, "the file is not in the registered representation");
  check_ok(MPI_File_close(&file), "close");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  external32();
  internal();
  registered();
  return check_finish();
}
