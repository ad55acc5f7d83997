/* Uses the MPI through everything that the dispatcher exports in kinds: exchanges with many
 * arguments, completion, files, handles, errors. Exits 0 if the MPI behaves as ever.
 *
 * usage: passthrough served|unserved     whether calls are to have reached Nacre's library */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "passthrough: %s\n", what);
  ++failures;
}

static unsigned long long calls_served(void) {
  unsigned long long (*served)(void);
  void* found = dlsym(RTLD_DEFAULT, "nacre_calls_served");
  if (found == NULL) return 0;
  memcpy(&served, &found, sizeof served);
  return served();
}

/* The first call that goes through a slot: five of its arguments are on the stack. */
static void check_exchanges(void) {
  int sent[3] = {11, 12, 13};
  int received[4] = {0, 0, 0, 0};
  MPI_Status status;
  int count = 0;
  MPI_Sendrecv(sent, 3, MPI_INT, 0, 7, received, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 3 && received[0] == 11 && received[2] == 13 && received[3] == 0, "MPI_Sendrecv");
  expect(status.MPI_SOURCE == 0 && status.MPI_TAG == 7, "status of MPI_Sendrecv");

  MPI_Sendrecv_replace(sent, 2, MPI_INT, 0, 6, 0, 6, MPI_COMM_SELF, &status);
  expect(sent[0] == 11 && sent[1] == 12, "MPI_Sendrecv_replace");

  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(received, 4, MPI_INT, 0, 8, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(sent, 2, MPI_INT, 0, 8, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  expect(requests[0] == MPI_REQUEST_NULL && received[1] == 12, "MPI_Waitall");

  MPI_Isend(sent + 1, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &requests[0]);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
  expect(status.MPI_TAG == 9, "MPI_Probe");
  MPI_Recv(received, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(received[0] == 12, "MPI_Recv");

  MPI_Message message;
  MPI_Issend(sent, 1, MPI_INT, 0, 10, MPI_COMM_SELF, &requests[0]);
  MPI_Mprobe(0, 10, MPI_COMM_SELF, &message, &status);
  MPI_Mrecv(received, 1, MPI_INT, &message, &status);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(received[0] == 11 && status.MPI_TAG == 10, "MPI_Mrecv");

  MPI_Irecv(received, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[0]);
  MPI_Rsend(sent + 2, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Irecv(received + 1, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[1]);
  MPI_Ssend(sent + 1, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Waitall(2, requests, statuses);
  expect(received[0] == 13 && received[1] == 12, "MPI_Rsend, MPI_Ssend");
}

static void check_data(const char* name, int rank, int size) {
  MPI_File file;
  MPI_Offset bytes = 0;
  MPI_Status status;
  MPI_Request request;
  int count = 0;
  const int value = 100 + rank;
  int back = 0;
  expect(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS,
         "MPI_File_open");
  MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 1, "status of MPI_File_write_at_all");
  /* The size is to have all ranks' writes in it: sync, barrier, sync. */
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  PMPI_File_iread_at(file, 0, &back, 1, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 1 && back == value, "MPI_File_iread_at");
#if MPI_VERSION >= 4
  back = 0;
  MPI_File_read_at_c(file, 0, &back, (MPI_Count)1, MPI_INT, &status);
  expect(back == value, "MPI_File_read_at_c");
#endif
  MPI_File_get_size(file, &bytes);
  expect(bytes == 4 * size, "MPI_File_get_size");
#ifndef MPI_ABI_VERSION
  expect(MPI_File_f2c(MPI_File_c2f(file)) == file, "MPI_File_c2f");
#endif
#if MPI_VERSION >= 5
  expect(MPI_File_fromint(MPI_File_toint(file)) == file, "MPI_File_toint");
#endif
  MPI_File_close(&file);
  expect(file == MPI_FILE_NULL, "MPI_File_close");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) expect(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS, "MPI_File_delete");
}

#if defined(OPEN_MPI)
/* The large-count calls that this MPI does not have: here they come from Nacre, if at all. */
static void check_large_count(const char* name) {
  int (*write_at_c)(MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Status*);
  void* found = dlsym(RTLD_DEFAULT, "MPI_File_write_at_c");
  MPI_File file;
  MPI_Datatype empty;
  char byte = 'x';
  if (found == NULL || calls_served() == 0) return;
  memcpy(&write_at_c, &found, sizeof write_at_c);
  MPI_Type_contiguous(0, MPI_CHAR, &empty);
  MPI_Type_commit(&empty);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_WRONLY,
                MPI_INFO_NULL, &file);
  expect(write_at_c(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "MPI_File_write_at_c");
  expect(write_at_c(file, 0, &byte, 5000000000, empty, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "MPI_File_write_at_c of a count over INT_MAX");
  MPI_File_close(&file);
  MPI_Type_free(&empty);
}
#endif

static int handled = 0;

static void note_error(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  ++handled;
}

static void check_errors(void) {
  MPI_File file;
  MPI_Errhandler mine;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  int error_class = MPI_SUCCESS;
  const int code = MPI_File_open(MPI_COMM_SELF, "/nonexistent/directory/file", MPI_MODE_RDONLY,
                                 MPI_INFO_NULL, &file);
  expect(code != MPI_SUCCESS, "MPI_File_open of a file that is not there");
  MPI_Error_string(code, text, &length);
  expect(length > 0 && (int)strlen(text) == length, "MPI_Error_string");
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_NO_SUCH_FILE, "class of the error");
  MPI_File_create_errhandler(note_error, &mine);
  MPI_File_set_errhandler(MPI_FILE_NULL, mine);
  MPI_File_open(MPI_COMM_SELF, "/nonexistent/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
                &file);
  expect(handled == 1, "error handler of MPI_FILE_NULL");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
}

int main(int argc, char** argv) {
  char name[4096];
  int rank = 0;
  int size = 0;
  const char* directory = getenv("NACRE_TEST_SCRATCH");
  const int served = argc > 1 && strcmp(argv[1], "served") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "%s/passthrough.dat", directory != NULL ? directory : ".");
  check_exchanges();
  check_data(name, rank, size);
  check_errors();
#if defined(OPEN_MPI)
  if (rank == 0) check_large_count(name);
#endif
  expect((calls_served() > 0) == served, "calls reached Nacre, or not, other than they should");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
