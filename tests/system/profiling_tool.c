/* A profiling tool that is preloaded and wraps calls as Darshan's library does: calls of MPI-IO are
 * passed on to the PMPI functions that the dynamic linker finds after the tool, and the POSIX calls
 * that these make are wrapped too. Each rank prints at MPI_Finalize what it saw of the file "data":
 *
 *   tool RANK: OPENS opens, CALLS calls, BYTES bytes; by POSIX OPENS opens, BYTES bytes written,
 * BYTES read */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long mpi_opens, mpi_calls, mpi_bytes, opens, bytes_written, bytes_read;

static void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "profiling_tool: there is no %s\n", name);
    abort();
  }
  return found;
}

static int is_data(const char* path) {
  const char* name = strrchr(path, '/');
  return strcmp(name == NULL ? path : name + 1, "data") == 0;
}

static int is_data_descriptor(int descriptor) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return is_data(path);
}

static void count_call(MPI_Datatype type, int count) {
  int size;
  int (*type_size)(MPI_Datatype, int*) = (int (*)(MPI_Datatype, int*))next("PMPI_Type_size");
  type_size(type, &size);
  ++mpi_calls;
  mpi_bytes += (long)size * count;
}

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  typedef int Function(MPI_Comm, const char*, int, MPI_Info, MPI_File*);
  ++mpi_opens;
  return ((Function*)next("PMPI_File_open"))(comm, name, mode, info, file);
}

/* Darshan reads the hints of a file in its wrapper of MPI_File_close. */
int MPI_File_close(MPI_File* file) {
  typedef int Info(MPI_File, MPI_Info*);
  typedef int Free(MPI_Info*);
  typedef int Function(MPI_File*);
  MPI_Info info;
  if (((Info*)next("PMPI_File_get_info"))(*file, &info) == MPI_SUCCESS)
    ((Free*)next("PMPI_Info_free"))(&info);
  return ((Function*)next("PMPI_File_close"))(file);
}

#define WRAP_AT(NAME, BUFFER)                                                                \
  int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER buffer, int count,            \
                      MPI_Datatype type, MPI_Status* status) {                               \
    typedef int Function(MPI_File, MPI_Offset, BUFFER, int, MPI_Datatype, MPI_Status*);      \
    count_call(type, count);                                                                 \
    return ((Function*)next("PMPI_File_" #NAME))(file, offset, buffer, count, type, status); \
  }
WRAP_AT(write_at_all, const void*)
WRAP_AT(write_at, const void*)
WRAP_AT(read_at_all, void*)
WRAP_AT(read_at, void*)

#define WRAP_OPEN(NAME)                                              \
  int NAME(const char* path, int flags, ...) {                       \
    typedef int Function(const char*, int, ...);                     \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                    \
    if (is_data(path)) ++opens;                                      \
    return ((Function*)next(#NAME))(path, flags, mode);              \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_TRANSFER(NAME, BUFFER, OFFSET, SUM)                                \
  ssize_t NAME(int descriptor, BUFFER buffer, size_t size, OFFSET offset) {     \
    typedef ssize_t Function(int, BUFFER, size_t, OFFSET);                      \
    ssize_t moved = ((Function*)next(#NAME))(descriptor, buffer, size, offset); \
    if (moved > 0 && is_data_descriptor(descriptor)) SUM += moved;              \
    return moved;                                                               \
  }
WRAP_TRANSFER(pwrite, const void*, off_t, bytes_written)
WRAP_TRANSFER(pwrite64, const void*, off64_t, bytes_written)
WRAP_TRANSFER(pread, void*, off_t, bytes_read)
WRAP_TRANSFER(pread64, void*, off64_t, bytes_read)

int MPI_Finalize(void) {
  typedef int Rank(MPI_Comm, int*);
  typedef int Function(void);
  int rank;
  ((Rank*)next("PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
  printf(
      "tool %d: %ld opens, %ld calls, %ld bytes; by POSIX %ld opens, %ld bytes written, %ld read\n",
      rank, mpi_opens, mpi_calls, mpi_bytes, opens, bytes_written, bytes_read);
  return ((Function*)next("PMPI_Finalize"))();
}
