/* Wrong arguments: every rank returns the error class of the standard, the error string names the
 * file, and the file stays usable. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void strings_name_the_path(void) {
  const char* path = check_path("errors-missing.h5");
  MPI_File file;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  const int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  check_class(code, MPI_ERR_NO_SUCH_FILE, "open of nothing");
  MPI_Error_string(code, text, &length);
  check(length == (int)strlen(text), "the string's length is %d, must be %zu", length,
        strlen(text));
  check(getenv("NACRE_TEST_EXPECT") == NULL || strstr(text, "errors-missing.h5") != NULL,
        "the error does not name the file: %s", text);
}

static void permission(void) {
  const char* path = check_path("errors-permission");
  MPI_File file;
  int code;
  if (geteuid() == 0) return; /* root may open any file */
  if (check_rank(MPI_COMM_WORLD) == 0) fclose(fopen(path, "w")), chmod(path, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  check_class(code, MPI_ERR_ACCESS, "open of a file without permission");
}

static void special_files(void) {
  MPI_File file;
  MPI_Status status;
  const char* directory = getenv("NACRE_TEST_SCRATCH");
  int zeros[2] = {7, 7};
  check_ok(MPI_File_open(MPI_COMM_WORLD, "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
           "open /dev/zero");
  check_ok(MPI_File_read_at_all(file, 0, zeros, 2, MPI_INT, &status), "read /dev/zero");
  check(zeros[0] == 0 && zeros[1] == 0 && check_status_bytes(&status) == sizeof zeros,
        "a device without a size read as %d bytes", check_status_bytes(&status));
  check_ok(MPI_File_close(&file), "close");
  const int code = MPI_File_open(MPI_COMM_WORLD, directory != NULL ? directory : ".", MPI_MODE_RDWR,
                                 MPI_INFO_NULL, &file);
  check(code != MPI_SUCCESS, "a directory was opened for writing");
}

/* Ranks that return early from a failed open and begin the next open are not mistaken for late
 * ranks of the first. */
static void opens_in_a_row(void) {
  MPI_File file;
  for (int i = 0; i < 200; i++) {
    check_class(
        MPI_File_open(MPI_COMM_WORLD, "/nacre/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
        MPI_ERR_NO_SUCH_FILE, "open of no file");
  }
}

static void arguments(MPI_File file) {
  MPI_Status status;
  MPI_Offset offset = 0;
  char byte = 1;
  const int rank = check_rank(MPI_COMM_WORLD);
  check_class(MPI_File_write(file, &byte, -1, MPI_BYTE, &status), MPI_ERR_COUNT, "negative count");
  check_class(MPI_File_write(file, &byte, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE,
              "no datatype");
  check_class(MPI_File_write_at(file, -1, &byte, 1, MPI_BYTE, &status), MPI_ERR_ARG,
              "negative offset");
  check_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "seek before the file");
  check_class(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG, "no such whence");
  check_class(MPI_File_set_size(file, -1), MPI_ERR_ARG, "negative size");
  check_class(MPI_File_preallocate(file, -1), MPI_ERR_ARG, "negative preallocation");
  check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP, "no such representation");
  check_class(MPI_File_set_view(file, -8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG,
              "negative displacement");
  check_ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
           "a right view after wrong ones");
  check_ok(MPI_File_get_byte_offset(file, 3, &offset), "get_byte_offset");
  check(offset == 12, "the byte offset is %lld", (long long)offset);
  check(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, &status) != MPI_SUCCESS,
        "a quarter of an etype was written");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "bytes again");
  check_ok(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, &status),
           "write_at_all after errors");
}

/* A filetype may overlap itself on a file that is open for reading only, but never go backwards. */
static void views_for_reading(void) {
  const char* path = check_path("errors-read-only");
  MPI_Datatype backwards;
  MPI_Datatype overlapping;
  MPI_File file;
  const int backwards_at[2] = {4, 0};
  const int overlapping_at[2] = {0, 1};
  if (check_rank(MPI_COMM_WORLD) == 0) fclose(fopen(path, "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_create_indexed_block(2, 2, backwards_at, MPI_BYTE, &backwards);
  MPI_Type_create_indexed_block(2, 2, overlapping_at, MPI_BYTE, &overlapping);
  MPI_Type_commit(&backwards);
  MPI_Type_commit(&overlapping);
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
           "open for reading");
  check_class(MPI_File_set_view(file, 0, MPI_BYTE, backwards, "native", MPI_INFO_NULL), MPI_ERR_ARG,
              "decreasing displacements");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, overlapping, "native", MPI_INFO_NULL),
           "overlapping blocks");
  check_ok(MPI_File_close(&file), "close");
  MPI_Type_free(&backwards);
  MPI_Type_free(&overlapping);
}

/* More elements than fit in memory, on one rank of a collective call. The MPIs crash. */
static void beyond_memory(MPI_File file) {
  MPI_Datatype quarter;
  MPI_Status status;
  char byte = 1;
  if (getenv("NACRE_TEST_EXPECT") == NULL) return;
  MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 61, &quarter);
  MPI_Type_commit(&quarter);
  check_class(MPI_File_write_at(file, 0, &byte, 8, quarter, &status), MPI_ERR_COUNT,
              "elements beyond 64 bits");
  check_class(check_rank(MPI_COMM_WORLD) == 0
                  ? MPI_File_write_at_all(file, 0, &byte, 8, quarter, &status)
                  : MPI_File_write_at_all(file, 0, &byte, 1, MPI_BYTE, &status),
              MPI_ERR_COUNT, "elements beyond 64 bits, collective");
  MPI_Type_free(&quarter);
}

/* Wrong arguments on one rank: all ranks return an error of that class, and no rank hangs. */
static void one_rank_is_wrong(MPI_File file) {
  MPI_Status status;
  MPI_Request request;
  char byte = 1;
  const int last = check_rank(MPI_COMM_WORLD) == check_size(MPI_COMM_WORLD) - 1;
  check_class(MPI_File_write_at_all(file, 0, &byte, last ? -1 : 1, MPI_BYTE, &status),
              MPI_ERR_COUNT, "write_at_all, count of the last rank negative");
  check_class(MPI_File_read_all(file, &byte, 1, last ? MPI_DATATYPE_NULL : MPI_BYTE, &status),
              MPI_ERR_TYPE, "read_all, no datatype on the last rank");
  check_class(MPI_File_write_ordered(file, &byte, last ? -1 : 1, MPI_BYTE, &status), MPI_ERR_COUNT,
              "write_ordered, count of the last rank negative");
  int code = MPI_File_iwrite_at_all(file, 0, &byte, last ? -1 : 1, MPI_BYTE, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
  check_class(code, MPI_ERR_COUNT, "iwrite_at_all, count of the last rank negative");
  check_class(MPI_File_set_size(file, last ? 7 : 8),
              check_size(MPI_COMM_WORLD) > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS,
              "set_size, another size on the last rank");
  check_ok(MPI_File_write_at_all(file, 0, &byte, 1, MPI_BYTE, &status),
           "write_at_all after errors");
}

static void split_collectives(MPI_File file) {
  MPI_Status status;
  char bytes[2] = {1, 2};
  check_ok(MPI_File_write_at_all_begin(file, 0, &bytes[0], 1, MPI_BYTE), "begin");
  check(MPI_File_write_at_all_begin(file, 0, &bytes[1], 1, MPI_BYTE) != MPI_SUCCESS,
        "a second split began");
  check_ok(MPI_File_write_at_all_end(file, &bytes[0], &status), "end");
  check(check_status_bytes(&status) == 1, "the end's status says %d", check_status_bytes(&status));
  check(MPI_File_write_at_all_end(file, &bytes[0], &status) != MPI_SUCCESS,
        "an end without a begin");
}

int main(int argc, char** argv) {
  MPI_File file;
  const char* path;
  MPI_Init(&argc, &argv);
  path = check_path("errors");
  strings_name_the_path();
  permission();
  special_files();
  views_for_reading();
  opens_in_a_row();
  if (check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                             &file),
               "open")) {
    arguments(file);
    one_rank_is_wrong(file);
    beyond_memory(file);
    split_collectives(file);
    check_ok(MPI_File_close(&file), "close");
  }
  return check_finish();
}
