/* One rank reaches a real limit of the system in a collective call: every rank returns an error of
 * the same class, no rank hangs, and the file stays usable. Calls succeed without memory for cycle
 * buffers. The argument is the limit: fsize, nofile, tmpfs, readonly, vanished, memory, shm. Limits
 * that this user may not set are skipped with the reason. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

enum { block = 1 << 20, skip = 77 };

static char buffer[block];

/* Checks that the code has that class, on this rank and on rank 0. */
static void agreed_failure(int code, int error_class, const char* what) {
  int found = MPI_SUCCESS;
  int first;
  check_class(code, error_class, what);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  first = found;
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(first == found, "%s: class %d on rank 0, %d here", what, first, found);
}

/* Whether the kernel applies RLIMIT_FSIZE to writes here. A Lustre client limits resizes only. */
static int file_size_limit_applies(const char* path) {
  const struct rlimit limit = {1, RLIM_INFINITY};
  const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  int applies = 0;
  if (check_rank(MPI_COMM_WORLD) == 0) {
    const int probe = open(path, O_CREAT | O_WRONLY, 0600);
    setrlimit(RLIMIT_FSIZE, &limit);
    applies = write(probe, "xx", 2) != 2;
    setrlimit(RLIMIT_FSIZE, &none);
    close(probe);
    unlink(path);
  }
  MPI_Bcast(&applies, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return applies;
}

/* RLIMIT_FSIZE on all ranks except the first: the write that exceeds it fails with EFBIG. */
static int file_size_limit(const char* path) {
  const struct rlimit limit = {block / 2, RLIM_INFINITY};
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_File file;
  MPI_Status status;
  signal(SIGXFSZ, SIG_IGN);
  if (!file_size_limit_applies(check_path("limits-probe"))) {
    if (rank == 0) printf("skipped: the kernel does not limit the size of files here\n");
    return skip;
  }
  check_ok(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      "open");
  setrlimit(RLIMIT_FSIZE, &limit);
  agreed_failure(
      MPI_File_write_at_all(file, (MPI_Offset)rank * block, buffer, block, MPI_BYTE, &status),
      MPI_ERR_IO, "write_at_all over RLIMIT_FSIZE");
  check_ok(MPI_File_write_at_all(file, 16 * rank, buffer, 16, MPI_BYTE, &status),
           "a small write after it");
  MPI_File_close(&file);
  return 0;
}

/* The last rank has no free descriptor and cannot take part in an open, so no rank opens the file.
 */
static int descriptor_limit(const char* path) {
  const int last = check_rank(MPI_COMM_WORLD) == check_size(MPI_COMM_WORLD) - 1;
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  struct rlimit before;
  struct rlimit limit;
  int here = check_rank(MPI_COMM_WORLD);
  int everywhere[64];
  int taken[1024];
  int count = 0;
  MPI_File file;
  MPI_File held; /* uses a handle, so that the next open needs another handle */
  /* After these, all descriptors that are opened once, for libraries and messages, are open. */
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &held), "first open");
  MPI_Allgather(&here, 1, MPI_INT, everywhere, 1, MPI_INT, MPI_COMM_WORLD);
  getrlimit(RLIMIT_NOFILE, &before);
  limit = before;
  limit.rlim_cur = sizeof taken / sizeof *taken;
  if (last) {
    setrlimit(RLIMIT_NOFILE, &limit);
    while ((taken[count] = dup(STDERR_FILENO)) >= 0) ++count;
  }
  agreed_failure(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), MPI_ERR_IO,
                 "open without a descriptor");
  while (count > 0) close(taken[--count]);
  if (last) setrlimit(RLIMIT_NOFILE, &before);
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), "open with one");
  MPI_File_close(&file);
  MPI_File_close(&held);
  return 0;
}

/* A tmpfs of 1 MiB, mounted by on_small_mounts.sh at $NACRE_TEST_TMPFS. */
static int full_file_system(const char* directory) {
  const int rank = check_rank(MPI_COMM_WORLD);
  char path[1024];
  MPI_File file;
  MPI_Status status;
  snprintf(path, sizeof path, "%s/full", directory);
  check_ok(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      "open");
  agreed_failure(
      MPI_File_write_at_all(file, (MPI_Offset)rank * block, buffer, block, MPI_BYTE, &status),
      MPI_ERR_NO_SPACE, "write_at_all on a full file system");
  MPI_Request request;
  int code =
      MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, buffer, block, MPI_BYTE, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
  agreed_failure(code, MPI_ERR_NO_SPACE, "iwrite_at_all on a full file system");
  MPI_File_set_size(file, 0);
  check_ok(MPI_File_write_at_all(file, 16 * rank, buffer, 16, MPI_BYTE, &status),
           "a write after there is room again");
  MPI_File_close(&file);
  return 0;
}

static int read_only_file_system(const char* directory) {
  char path[1024];
  MPI_File file;
  snprintf(path, sizeof path, "%s/new", directory);
  agreed_failure(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      MPI_ERR_READ_ONLY, "create on a read-only file system");
  return 0;
}

/* The file is removed by another process before some ranks have opened it: the data written before
 * is lost, and no rank hangs or crashes. Later calls may fail or succeed, but equally on all ranks.
 */
static int vanished(const char* path) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_File file;
  MPI_Status status;
  int found = MPI_SUCCESS;
  int first;
  check_ok(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      "open");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  const int code =
      MPI_File_write_at_all(file, (MPI_Offset)rank * block, buffer, block, MPI_BYTE, &status);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  first = found;
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(first == found, "write_at_all of a vanished file: class %d on rank 0, %d here", first,
        found);
  MPI_File_close(&file);
  return 0;
}

/* Limits this process to `room` more bytes of memory. Returns the previous limit. */
static struct rlimit limit_memory(rlim_t room) {
  struct rlimit before;
  long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (check(statm != NULL && fscanf(statm, "%ld", &pages) == 1, "no size in /proc/self/statm")) {
    getrlimit(RLIMIT_AS, &before);
    const struct rlimit limit = {(rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + room,
                                 before.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  if (statm != NULL) fclose(statm);
  return before;
}

/* Creates a file and sets a view. Frees the info. */
static MPI_File open_through(const char* path, MPI_Info info, MPI_Offset displacement,
                             MPI_Datatype type) {
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  MPI_File file;
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &file), "open");
  MPI_Info_free(&info);
  check_ok(MPI_File_set_view(file, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL),
           "set_view");
  return file;
}

/* Of the buffer, collectively. */
static void write_and_read(MPI_File file, char* in, int bytes) {
  check_ok(MPI_File_write_at_all(file, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           "write_at_all");
  check_ok(MPI_File_read_at_all(file, 0, in, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
}

/* The last rank has no memory for cycle buffers, in a call through a view of short pieces that are
 * a gigabyte apart: all ranks continue without an exchange, and exchange again when memory is
 * available. NACRE_TEST_RANKS_PER_NODE=1: the limit is on the last rank, not on those that share
 * memory. */
static int memory_limit(const char* path) {
  enum { piece = 1000 };
  const char* reports = check_path("limits-memory-report");
  const int rank = check_rank(MPI_COMM_WORLD);
  const int last = rank == check_size(MPI_COMM_WORLD) - 1;
  const MPI_Aint places[] = {0, 1 << 30};
  struct rlimit before;
  char in[2 * piece];
  MPI_Info info;
  MPI_Datatype type;
  MPI_Type_create_hindexed_block(2, piece, places, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "32m");
  MPI_Info_set(info, "nacre_machine", "none"); /* the rules choose an exchange */
  MPI_Info_set(info, "nacre_report", reports);
  MPI_File file = open_through(path, info, (MPI_Offset)rank * piece, type);
  for (int round = 0; round < 2; ++round) {
    const int limited = last && round == 0;
    memset(buffer, 'a' + rank + round, sizeof in);
    if (limited) before = limit_memory(48 << 20);
    write_and_read(file, in, sizeof in);
    if (limited) setrlimit(RLIMIT_AS, &before);
    check(memcmp(in, buffer, sizeof in) == 0, "other bytes than were written");
  }
  MPI_Type_free(&type);
  MPI_File_close(&file);
  if (check_is_nacre()) {
    check_report_has(reports, "\"reason\":\"no_memory\"");
    check_report_has(reports, "\"reason\":\"interleaved\"");
  }
  return 0;
}

/* A /dev/shm of 64 MiB, most of which Nacre must not use. Each rank sends the aggregator, whose
 * file is slow, more short messages than it can receive at once. */
static int small_shared_memory(const char* unused) {
  enum { piece = 200, pieces = 60 };
  const char* path = check_path("limits-shm");
  const char* reports = check_path("limits-shm-report");
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Aint places[pieces];
  static char in[piece * pieces];
  MPI_Info info;
  MPI_Datatype type;
  (void)unused;
  for (int i = 0; i < pieces; ++i) places[i] = (MPI_Aint)i << 21;
  MPI_Type_create_hindexed_block(pieces, piece, places, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "1m");
  MPI_Info_set(info, "nacre_cycle_buffers", "16");
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "nacre_machine", "none"); /* the rules choose an exchange */
  MPI_Info_set(info, "nacre_io_threads", "0");
  MPI_Info_set(info, "nacre_report", reports);
  MPI_File file = open_through(path, info, (MPI_Offset)rank * piece, type);
  for (int round = 0; round < 2; ++round) {
    memset(buffer, 'a' + rank + round, sizeof in);
    write_and_read(file, in, sizeof in);
    check(memcmp(in, buffer, sizeof in) == 0, "other bytes than were written");
  }
  MPI_Type_free(&type);
  MPI_File_close(&file);
  if (check_is_nacre()) check_report_has(reports, "\"reason\":\"interleaved\"");
  return 0;
}

static int on_mount(int (*test)(const char*), const char* variable) {
  const char* directory = getenv(variable);
  if (directory != NULL) return test(directory);
  if (check_rank(MPI_COMM_WORLD) == 0)
    printf("skipped: no %s: this user may not mount\n", variable);
  return skip;
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "fsize";
  int result = 0;
  MPI_Init(&argc, &argv);
  memset(buffer, 'n', sizeof buffer);
  if (strcmp(which, "fsize") == 0) result = file_size_limit(check_path("limits-fsize"));
  if (strcmp(which, "nofile") == 0) result = descriptor_limit(check_path("limits-nofile"));
  if (strcmp(which, "tmpfs") == 0) result = on_mount(full_file_system, "NACRE_TEST_TMPFS");
  if (strcmp(which, "readonly") == 0)
    result = on_mount(read_only_file_system, "NACRE_TEST_READ_ONLY");
  if (strcmp(which, "vanished") == 0) result = vanished(check_path("limits-vanished"));
  if (strcmp(which, "shm") == 0) result = on_mount(small_shared_memory, "NACRE_TEST_TMPFS");
  if (strcmp(which, "memory") == 0) result = memory_limit(check_path("limits-memory"));
  if (result == skip) {
    MPI_Finalize();
    return skip;
  }
  return check_finish();
}
