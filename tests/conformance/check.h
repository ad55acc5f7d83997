/* For every test program: checks that print a failure and continue, and a result that all ranks
 * agree on. For C and C++. */
#ifndef NACRE_TESTS_CONFORMANCE_CHECK_H_
#define NACRE_TESTS_CONFORMANCE_CHECK_H_

#include <mpi.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures = 0;

/* Counts and prints a failure unless `right`; returns `right`. */
__attribute__((format(printf, 2, 3))) static inline int check(int right, const char* format, ...) {
  char text[1024];
  va_list arguments;
  if (right) return 1;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ++check_failures;
  printf("FAILED: %s\n", text);
  fflush(stdout);
  return 0;
}

/* Checks that `code` is MPI_SUCCESS. */
static inline int check_ok(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return 1;
  MPI_Error_string(code, text, &length);
  return check(0, "%s: %s", what, text);
}

/* Checks that `code` has the class `error_class`. */
static inline int check_class(int code, int error_class, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "success";
  int length = 0;
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &length);
  }
  return check(found == error_class, "%s: class %d, must be %d (%s)", what, found, error_class,
               text);
}

/* The path of a file in the directory of this test, which the launcher removes. In static storage.
 */
static inline const char* check_path(const char* name) {
  static char path[4][1024];
  static int next = 0;
  const char* directory = getenv("NACRE_TEST_SCRATCH");
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", directory != NULL ? directory : ".", name);
  return path[next];
}

static inline int check_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static inline int check_size(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/* The number of bytes in the status. */
static inline int check_status_bytes(MPI_Status* status) {
  int bytes = -1;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  return bytes;
}

/* 0 if Nacre served this process or the test runs without Nacre; otherwise prints an error and
 * returns 1. */
static inline int check_served(void) {
  unsigned long long (*served)(void);
  if (getenv("NACRE_TEST_EXPECT") == NULL) return 0;
  *(void**)&served = dlsym(RTLD_DEFAULT, "nacre_calls_served");
  if (served != NULL && served() > 0) return 0;
  printf("FAILED: no call of this process was served by Nacre\n");
  return 1;
}

/* Finalizes MPI. Returns the exit status for main. */
static inline int check_finish(void) {
  int all = 0;
  check_failures += check_served();
  MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

#endif /* NACRE_TESTS_CONFORMANCE_CHECK_H_ */
