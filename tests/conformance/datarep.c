/* Data representations: external32 with the bytes of the standard (MPI 4.1, 14.5.2), internal, and
 * a representation of the program, whose functions are called with the right datatypes and sizes.
 */
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

/* Reads `count` of `datatype` from the beginning of the file in the three ways there are. Of each
 * the status must say `bytes`, and the buffer must hold as much of `expected` and nothing else. */
static void check_short_reads(MPI_File file, int count, MPI_Datatype datatype, int bytes,
                              const void* expected, const char* what) {
  static const char* const ways[] = {"read_at", "iread_at", "read_at_all", "iread_at_all"};
  for (int way = 0; way < 4; ++way) {
    unsigned char in[64];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    memset(in, 0xA5, sizeof in);
    if (way == 0) check_ok(MPI_File_read_at(file, 0, in, count, datatype, &status), what);
    if (way == 1) check_ok(MPI_File_iread_at(file, 0, in, count, datatype, &request), what);
    if (way == 2) check_ok(MPI_File_read_at_all(file, 0, in, count, datatype, &status), what);
    if (way == 3) check_ok(MPI_File_iread_at_all(file, 0, in, count, datatype, &request), what);
    if (way % 2 == 1) check_ok(MPI_Wait(&request, &status), what);
    check(check_status_bytes(&status) == bytes, "%s by %s: the status says %d bytes, must be %d",
          what, ways[way], check_status_bytes(&status), bytes);
    check(memcmp(in, expected, (size_t)bytes) == 0, "%s by %s: wrong data", what, ways[way]);
    for (int index = bytes; index < (int)sizeof in; ++index) {
      if (!check(in[index] == 0xA5, "%s by %s: byte %d was changed", what, ways[way], index)) break;
    }
  }
}

/* Checks that the file contains exactly `bytes` bytes of `stream`. */
static void set_contents(MPI_File file, const unsigned char* stream, int bytes) {
  MPI_Status status;
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "native");
  check_ok(MPI_File_set_size(file, bytes), "set_size");
  if (check_rank(MPI_COMM_WORLD) == 0)
    check_ok(MPI_File_write_at(file, 0, stream, bytes, MPI_BYTE, &status), "write_at");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

/* A file that ends inside an element of the memory type, even inside a basic one: all whole basic
 * ones come, and count. */
static void external32_at_the_end_of_the_file(void) {
  const unsigned char ints[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0};
  const int expected_ints[] = {1, 2, 3};
  const unsigned char record[] = {0, 0, 0, 7, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0x3f};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
  const double one = 1;
  const int numbers[] = {7, 8};
  unsigned char expected_record[16];
  const unsigned char complexes[] = {0x3f, 0x80, 0, 0, 0, 0, 0, 0, 0x3f, 0x80, 0, 0};
  const float expected_complex[] = {1, 0};
  MPI_File file = open_file("datarep-short");
  MPI_Datatype several;
  MPI_Datatype padded;
  MPI_Datatype structure;
  MPI_Status status;
  int in[4] = {0};
  int elements = -1;

  set_contents(file, ints, sizeof ints);
  MPI_Type_contiguous(2, MPI_INT, &several);
  MPI_Type_commit(&several);
  check_ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL), "external32");
  check_short_reads(file, 3, several, sizeof expected_ints, expected_ints, "two ints, cut off");
  check_ok(MPI_File_read_at(file, 0, in, 2, several, &status), "read_at");
  MPI_Get_elements(&status, several, &elements);
  check(elements == 3, "two ints, cut off: the status says %d elements, must be 3", elements);
  MPI_Type_free(&several);

  set_contents(file, record, sizeof record);
  MPI_Type_create_struct(2, lengths, places, members, &padded);
  MPI_Type_create_resized(padded, 0, 12, &structure);
  MPI_Type_commit(&structure);
  MPI_Type_free(&padded);
  memcpy(expected_record, &numbers[0], 4);
  memcpy(expected_record + 4, &one, 8);
  memcpy(expected_record + 12, &numbers[1], 4);
  check_ok(MPI_File_set_view(file, 0, structure, structure, "external32", MPI_INFO_NULL),
           "external32 of a struct");
  check_short_reads(file, 2, structure, sizeof expected_record, expected_record,
                    "a struct, cut off");
  MPI_Type_free(&structure);

  set_contents(file, complexes, sizeof complexes);
  check_ok(MPI_File_set_view(file, 0, MPI_C_FLOAT_COMPLEX, MPI_C_FLOAT_COMPLEX, "external32",
                             MPI_INFO_NULL),
           "external32 of complex");
  check_short_reads(file, 2, MPI_C_FLOAT_COMPLEX, sizeof expected_complex, expected_complex,
                    "a complex, cut off");
  check_ok(MPI_File_close(&file), "close");
}

/* The program's own: every int takes eight bytes in the file, the value first in little-endian,
 * then "nacr". */
static int extent_calls = 0;
static int items_converted = 0;
static int other_handles = 0; /* calls with a datatype handle other than MPI_INT */
static char state_text[] = "state";

static int wide_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  (void)datatype;
  ++extent_calls;
  *extent = 8;
  return state == state_text ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int wide_read(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                     void* state) {
  if (datatype != MPI_INT) ++other_handles;
  items_converted += count;
  for (int index = 0; index < count; ++index) {
    memcpy((char*)user + 4 * (position + index), (char*)file + 8 * index, 4);
    if (memcmp((char*)file + 8 * index + 4, "nacr", 4) != 0) return MPI_ERR_CONVERSION;
  }
  return state == state_text ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int wide_write(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                      void* state) {
  if (datatype != MPI_INT) ++other_handles;
  items_converted += count;
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
  check(other_handles == 0, "%d conversions of MPI_INT were of another datatype", other_handles);
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "native");
  check_ok(MPI_File_read_at(file, 8 * (rank * count + 7), bytes, 8, MPI_BYTE, &status), "read_at");
  check(memcmp(bytes + 4, "nacr", 4) == 0, "the file is not in the registered representation");
  check_ok(MPI_File_close(&file), "close");
}

/* The conversion functions count entries of the typemap (MPI 4.1, 14.5.3, advice to users), so that
 * they can end inside a datatype as the file does. */
static void registered_with_derived_types(void) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const int out[6] = {1, 2, 3, 4, 5, 6};
  MPI_File file = open_file("datarep-wide-derived");
  MPI_Datatype three;
  MPI_Status status;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  check_ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "wide", MPI_INFO_NULL), "wide");
  items_converted = 0;
  check_ok(MPI_File_write_at_all(file, 6 * rank, out, 2, three, &status), "write_at_all");
  check(items_converted == 6, "%d items were converted, must be 6", items_converted);
  check(check_status_bytes(&status) == 24, "the status says %d bytes", check_status_bytes(&status));
  check_ok(MPI_File_set_size(file, 48 * size - 8 * 2 - 5), "set_size");
  check_ok(MPI_File_set_view(file, 48 * (size - 1), MPI_INT, MPI_INT, "wide", MPI_INFO_NULL),
           "the last rank's");
  items_converted = 0;
  check_short_reads(file, 2, three, 12, out, "ints in a registered representation, cut off");
  check(items_converted == 4 * 3, "%d items were converted, must be 12", items_converted);
  MPI_Type_free(&three);
  check_ok(MPI_File_close(&file), "close");
}

/* Different representations on different ranks: the view does not change, and later calls work. */
static void differing(void) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Status status;
  int number = 7;
  if (getenv("NACRE_TEST_EXPECT") == NULL || check_size(MPI_COMM_WORLD) == 1) return;
  MPI_File file = open_file("datarep-differing");
  check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rank == 0 ? "external32" : "native",
                                MPI_INFO_NULL),
              MPI_ERR_NOT_SAME, "set_view with a representation that differs");
  check_ok(
      MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof number, &number, 1, MPI_INT, &status),
      "write_at_all");
  check_ok(
      MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof number, &number, 1, MPI_INT, &status),
      "read_at_all");
  check(number == 7, "%d came back", number);
  check_ok(MPI_File_close(&file), "close");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  external32();
  external32_at_the_end_of_the_file();
  internal();
  differing();
  registered();
  registered_with_derived_types();
  return check_finish();
}
