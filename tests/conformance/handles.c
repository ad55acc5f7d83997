/* Handles: group and amode, conversion to Fortran handles and integers and back, many open files,
 * and a file that is open at MPI_Finalize, which must neither hang nor crash. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void conversions(MPI_File file) {
#ifndef MPI_ABI_VERSION
  const MPI_Fint number = MPI_File_c2f(file);
  check(MPI_File_f2c(number) == file, "c2f and back gives another handle");
  check(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "c2f of MPI_FILE_NULL");
#endif
  int (*toint)(MPI_File);
  MPI_File (*fromint)(int);
  *(void**)&toint = dlsym(RTLD_DEFAULT, "MPI_File_toint");
  *(void**)&fromint = dlsym(RTLD_DEFAULT, "MPI_File_fromint");
  if (toint != NULL && fromint != NULL) {
    check(fromint(toint(file)) == file, "toint and back gives another handle");
    check(fromint(toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "toint of MPI_FILE_NULL");
  }
}

static void group_of(MPI_File file) {
  MPI_Group of_file;
  MPI_Group of_world;
  int result = MPI_UNEQUAL;
  check_ok(MPI_File_get_group(file, &of_file), "get_group");
  MPI_Comm_group(MPI_COMM_WORLD, &of_world);
  MPI_Group_compare(of_file, of_world, &result);
  check(result == MPI_IDENT, "the file's group is not the communicator's");
  MPI_Group_free(&of_file);
  MPI_Group_free(&of_world);
}

/* More open files than a small pool of handles could hold, closed in any order. */
static void many(void) {
  enum { files = 50 };
  MPI_File file[files];
  MPI_Status status;
  const int rank = check_rank(MPI_COMM_WORLD);
  char name[64];
  for (int index = 0; index < files; ++index) {
    snprintf(name, sizeof name, "handles-%d", index);
    check_ok(MPI_File_open(MPI_COMM_WORLD, check_path(name),
                           MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file[index]),
             "open");
    for (int other = 0; other < index; ++other)
      check(file[other] != file[index], "two open files, one handle");
  }
  for (int index = 0; index < files; ++index) {
    check_ok(MPI_File_write_at(file[index], 4 * rank, &index, 1, MPI_INT, &status), "write");
  }
  for (int index = 0; index < files; ++index) {
    int back = -1;
    check_ok(MPI_File_read_at(file[index], 4 * rank, &back, 1, MPI_INT, &status), "read");
    check(back == index, "file %d has what file %d was given", index, back);
  }
  for (int index = 0; index < files; ++index) {
    check_ok(MPI_File_close(&file[index * 7 % files]), "close");
  }
}

/* The communicator may be freed while the file is open. */
static void freed_communicator(void) {
  MPI_Comm comm;
  MPI_File file;
  MPI_Status status;
  char byte = 3;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank(MPI_COMM_WORLD) % 2, 0, &comm);
  check_ok(MPI_File_open(
               comm, check_path(check_rank(MPI_COMM_WORLD) % 2 ? "handles-odd" : "handles-even"),
               MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
           "open on part of the world");
  MPI_Comm_free(&comm);
  check_ok(MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, &status),
           "write_ordered after the communicator is gone");
  check_ok(MPI_File_close(&file), "close after the communicator is gone");
}

/* A copy of the handle of a closed file is refused and does not access the old file. */
static void closed(void) {
  MPI_File file;
  MPI_File copy;
  MPI_Status status;
  char byte = 4;
  if (getenv("NACRE_TEST_EXPECT") == NULL) return; /* the MPIs read freed memory */
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("handles-closed"),
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file),
           "open");
  copy = file;
  check_ok(MPI_File_close(&file), "close");
  check_class(MPI_File_write_at(copy, 0, &byte, 1, MPI_BYTE, &status), MPI_ERR_FILE,
              "write to a closed file");
  check_class(MPI_File_sync(copy), MPI_ERR_FILE, "sync of a closed file");
  check_class(MPI_File_close(&copy), MPI_ERR_FILE, "second close");
}

/* A relative name refers to the working directory at open, also for ranks that open the file
 * later. */
static void elsewhere(void) {
  const int rank = check_rank(MPI_COMM_WORLD);
  char directory[4096];
  char name[4096];
  char byte = (char)rank;
  MPI_File file;
  MPI_Status status;
  snprintf(directory, sizeof directory, "%s", check_path("handles-elsewhere"));
  if (rank == 0) mkdir(directory, 0700);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!check(getcwd(name, sizeof name) != NULL && chdir(directory) == 0, "no way into %s",
             directory))
    return;
  check_ok(MPI_File_open(MPI_COMM_WORLD, "relative",
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file),
           "open");
  check(chdir(name) == 0, "no way back to %s", name);
  check_ok(MPI_File_write_at(file, rank, &byte, 1, MPI_BYTE, &status), "write after chdir");
  check_ok(MPI_File_close(&file), "close");
  if (rank == 0) check(rmdir(directory) == 0, "the file is still in %s", directory);
}

int main(int argc, char** argv) {
  MPI_File leaked;
  MPI_Status status;
  char byte = 1;
  MPI_Init(&argc, &argv);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("handles-leaked"),
                         MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &leaked),
           "open");
  conversions(leaked);
  group_of(leaked);
  many();
  closed();
  if (getenv("NACRE_TEST_EXPECT") != NULL) elsewhere();
  freed_communicator();
  check_ok(MPI_File_write_at_all(leaked, check_rank(MPI_COMM_WORLD), &byte, 1, MPI_BYTE, &status),
           "write");
  if (argc > 1) return check_finish(); /* "leak": the file stays open */
  check_ok(MPI_File_close(&leaked), "close");
  return check_finish();
}
