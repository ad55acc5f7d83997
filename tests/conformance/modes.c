/* Every access mode, with the operations that it allows and forbids (MPI 4.1, 14.2.1). A forbidden
 * operation fails on every rank with the error class of the standard, and the file stays usable. */
#include <unistd.h>

#include "check.h"

static void make_file(const char* path, int bytes) {
  if (check_rank(MPI_COMM_WORLD) == 0) {
    FILE* stream = fopen(path, "wb");
    for (int index = 0; index < bytes; ++index) fputc(index & 255, stream);
    fclose(stream);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int open_code(const char* path, int mode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) {
    MPI_File_close(&file);
    check(file == MPI_FILE_NULL, "close leaves %s's handle set", path);
  } else {
    check(file == MPI_FILE_NULL, "a failed open of %s gives a handle", path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

static void invalid_combinations(void) {
  const char* path = check_path("modes-invalid");
  make_file(path, 10);
  check_class(open_code(path, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE, "RDONLY|CREATE");
  check_class(open_code(path, MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE, "RDONLY|EXCL");
  check_class(open_code(path, MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE, "RDONLY|RDWR");
  check_class(open_code(path, MPI_MODE_RDWR | MPI_MODE_WRONLY), MPI_ERR_AMODE, "RDWR|WRONLY");
  check_class(open_code(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE,
              "RDWR|SEQUENTIAL");
  check_class(open_code(path, 0), MPI_ERR_AMODE, "no mode");
}

static void existence(void) {
  const char* path = check_path("modes-existence");
  check_class(open_code(path, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE, "RDONLY of nothing");
  check_class(open_code(path, MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE, "RDWR of nothing");
  check_ok(open_code(path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL), "CREATE|EXCL");
  check_class(open_code(path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL),
              MPI_ERR_FILE_EXISTS, "CREATE|EXCL of a file");
  check_ok(open_code(path, MPI_MODE_RDWR | MPI_MODE_CREATE), "CREATE of a file");
  check_ok(open_code(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), "DELETE_ON_CLOSE");
  check(access(path, F_OK) != 0, "DELETE_ON_CLOSE left the file");
  if (check_rank(MPI_COMM_WORLD) == 0) {
    check_class(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "delete of nothing");
  }
  check_class(open_code(check_path("no/such/directory"), MPI_MODE_RDWR | MPI_MODE_CREATE),
              MPI_ERR_NO_SUCH_FILE, "CREATE in no directory");
}

static void read_only(void) {
  const char* path = check_path("modes-rdonly");
  MPI_File file;
  char byte = 1;
  MPI_Status status;
  int mode = 0;
  make_file(path, 100);
  if (!check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                "RDONLY"))
    return;
  check_ok(MPI_File_get_amode(file, &mode), "get_amode");
  check(mode == MPI_MODE_RDONLY, "amode is %d", mode);
  check_class(MPI_File_write(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
              "write, RDONLY");
  check_class(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
              "write_at, RDONLY");
  check_class(MPI_File_write_all(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
              "write_all, RDONLY");
  check_class(MPI_File_write_shared(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
              "write_shared, RDONLY");
  check_class(MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY, "set_size, RDONLY");
  check_class(MPI_File_preallocate(file, 1000), MPI_ERR_READ_ONLY, "preallocate, RDONLY");
  check_ok(MPI_File_read_at_all(file, 5, &byte, 1, MPI_BYTE, &status), "read_at_all after errors");
  check(byte == 5, "read %d, must be 5", byte);
  check_ok(MPI_File_close(&file), "close");
}

static void write_only(void) {
  const char* path = check_path("modes-wronly");
  MPI_File file;
  char byte = 1;
  MPI_Status status;
  make_file(path, 100);
  if (!check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
                "WRONLY"))
    return;
  check_class(MPI_File_read(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_ACCESS, "read, WRONLY");
  check_class(MPI_File_read_at_all(file, 0, &byte, 1, MPI_BYTE, &status), MPI_ERR_ACCESS,
              "read_at_all, WRONLY");
  check_ok(MPI_File_write_at(file, check_rank(MPI_COMM_WORLD), &byte, 1, MPI_BYTE, &status),
           "write after errors");
  check_ok(MPI_File_close(&file), "close");
}

static void append(void) {
  const char* path = check_path("modes-append");
  MPI_File file;
  MPI_Offset position = -1;
  MPI_Status status;
  char byte = 'x';
  make_file(path, 100);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
  check_ok(MPI_File_get_position(file, &position), "get_position");
  check(position == 100, "APPEND: the individual pointer is at %lld", (long long)position);
  check_ok(MPI_File_get_position_shared(file, &position), "get_position_shared");
  check(position == 100, "APPEND: the shared pointer is at %lld", (long long)position);
  check_ok(MPI_File_write_at(file, 3, &byte, 1, MPI_BYTE, &status), "write_at under APPEND");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  byte = 0;
  check_ok(MPI_File_read_at(file, 3, &byte, 1, MPI_BYTE, &status), "read_at under APPEND");
  check(byte == 'x', "write_at under APPEND went elsewhere");
  check_ok(MPI_File_close(&file), "close");
}

static void sequential(void) {
  const char* path = check_path("modes-sequential");
  MPI_File file;
  MPI_Status status;
  MPI_Offset position = 0;
  char byte = 'x';
  if (!check_ok(MPI_File_open(MPI_COMM_WORLD, path,
                              MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL,
                              MPI_INFO_NULL, &file),
                "SEQUENTIAL")) {
    return;
  }
  check_class(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, &status),
              MPI_ERR_UNSUPPORTED_OPERATION, "write_at, SEQUENTIAL");
  check_class(MPI_File_write(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION,
              "write, SEQUENTIAL");
  check_class(MPI_File_write_all(file, &byte, 1, MPI_BYTE, &status), MPI_ERR_UNSUPPORTED_OPERATION,
              "write_all, SEQUENTIAL");
  check_class(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION,
              "seek, SEQUENTIAL");
  check_class(MPI_File_get_position(file, &position), MPI_ERR_UNSUPPORTED_OPERATION,
              "get_position, SEQUENTIAL");
  check_ok(MPI_File_write_shared(file, &byte, 1, MPI_BYTE, &status), "write_shared, SEQUENTIAL");
  check_ok(MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, &status), "write_ordered, SEQUENTIAL");
  check_ok(MPI_File_close(&file), "close");
}

/* MPI_DISPLACEMENT_CURRENT is the position of the shared pointer after all ranks have called
 * set_view. */
static void displacement_current(void) {
  const char* path = check_path("modes-displacement");
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  MPI_File file;
  MPI_Status status;
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char name[MPI_MAX_DATAREP_STRING];
  char bytes[3] = {'s', 's', 's'};
  char ordered = (char)('a' + rank);
  char all[64];
  check_ok(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL,
                    MPI_INFO_NULL, &file),
      "SEQUENTIAL");
  if (rank == size - 1) {
    usleep(20000); /* lets other ranks reach set_view first */
    check_ok(MPI_File_write_shared(file, bytes, 3, MPI_BYTE, &status), "write_shared");
  }
  check_ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                             MPI_INFO_NULL),
           "set_view");
  check_ok(MPI_File_get_view(file, &displacement, &etype, &filetype, name), "get_view");
  check(displacement == 3, "the view begins at %lld", (long long)displacement);
  check_ok(MPI_File_write_ordered(file, &ordered, 1, MPI_BYTE, &status), "write_ordered");
  check_ok(MPI_File_close(&file), "close");

  check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "open");
  check_ok(MPI_File_read_at_all(file, 0, all, 3 + size, MPI_BYTE, &status), "read_at_all");
  check(memcmp(all, bytes, 3) == 0, "what stood before the view is gone");
  for (int from = 0; from < size; ++from) check(all[3 + from] == 'a' + from, "rank %d", from);
  check_class(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                                MPI_INFO_NULL),
              MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT without SEQUENTIAL");
  check_ok(MPI_File_close(&file), "close");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  invalid_combinations();
  existence();
  read_only();
  write_only();
  append();
  sequential();
  displacement_current();
  return check_finish();
}
