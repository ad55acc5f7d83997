/* Error handlers in C: of a file, the default of MPI_FILE_NULL and its inheritance, changed while
 * the file is open, and called by MPI_File_call_errhandler. They get the right handle and code. */
#include "check.h"

static int calls_a = 0;
static int calls_b = 0;
static MPI_File last_file;
static int last_code;

static void handler_a(MPI_File* file, int* code, ...) {
  ++calls_a;
  last_file = *file;
  last_code = *code;
}

static void handler_b(MPI_File* file, int* code, ...) {
  ++calls_b;
  last_file = *file;
  last_code = *code;
}

static void of_a_file(MPI_File file, MPI_Errhandler a, MPI_Errhandler b) {
  MPI_Status status;
  MPI_Errhandler got;
  char byte = 0;
  int code;
  check_ok(MPI_File_set_errhandler(file, a), "set_errhandler");
  code = MPI_File_write(file, &byte, -1, MPI_BYTE, &status);
  check(calls_a == 1 && last_file == file,
        "the handler was called %d times, or with another handle", calls_a);
  check_class(last_code, MPI_ERR_COUNT, "the code that the handler is given");
  check(code == last_code, "the call returns %d after a handler of %d", code, last_code);
  check_ok(MPI_File_get_errhandler(file, &got), "get_errhandler");
  check(got == a, "get_errhandler gives another");
  MPI_Errhandler_free(&got);
  check_ok(MPI_File_set_errhandler(file, b), "changing the handler");
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  check(calls_a == 1 && calls_b == 1, "calls %d and %d after the change", calls_a, calls_b);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  check(calls_b == 2 && last_code == MPI_ERR_IO && last_file == file, "call_errhandler");
  check_ok(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN), "back to MPI_ERRORS_RETURN");
  check_class(MPI_File_write(file, &byte, -1, MPI_BYTE, &status), MPI_ERR_COUNT,
              "MPI_ERRORS_RETURN");
  check(calls_b == 2, "a handler that was replaced was called");
}

static void of_no_file(MPI_Errhandler a) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Errhandler got;
  const int before = calls_a;
  check_ok(MPI_File_get_errhandler(MPI_FILE_NULL, &got), "the default");
  check(got == MPI_ERRORS_RETURN, "the default is not MPI_ERRORS_RETURN");
  check_ok(MPI_File_set_errhandler(MPI_FILE_NULL, a), "setting the default");
  MPI_File_open(MPI_COMM_WORLD, check_path("no/such/file"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  check(calls_a == before + 1, "a failed open called the default %d times", calls_a - before);
  MPI_File_open(MPI_COMM_WORLD, check_path("handlers-inherit"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                MPI_INFO_NULL, &file);
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  check(calls_a == before + 2 && last_file == file, "a new file did not inherit the default");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  check(calls_a == before + 3, "changing the default changed an open file");
  MPI_File_close(&file);
}

/* An error of a nonblocking or split operation is raised at its end, if not at its start. */
static void of_requests(MPI_File file, MPI_Errhandler a) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  char byte = 0;
  const int before = calls_a;
  MPI_File_set_errhandler(file, a);
  const int code = MPI_File_iwrite_at(file, -5, &byte, 1, MPI_BYTE, &request);
  if (code == MPI_SUCCESS) MPI_Wait(&request, &status);
  check(calls_a > before || code != MPI_SUCCESS, "iwrite_at at -5 told nobody");
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
}

/* MPI_Request_get_status of a failed request calls no handler and does not complete it; completion
 * calls the handler. */
static void of_a_request_asked_about(MPI_File file, MPI_Errhandler a) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Offset offset = -5;
  char byte = 0;
  int done = 0;
  MPI_File_set_errhandler(file, a);
  const int before = calls_a;
  int code = MPI_File_iwrite_at_all(file, offset, &byte, 1, MPI_BYTE, &request);
  if (code == MPI_SUCCESS) {
    while (!done && code == MPI_SUCCESS) code = MPI_Request_get_status(request, &done, &status);
    check_ok(code, "get_status of a failed request");
    check(calls_a == before, "get_status raised the error");
    check_class(MPI_Wait(&request, &status), MPI_ERR_ARG, "wait");
  }
  check(calls_a == before + 1, "iwrite_at_all at -5 was told %d times", calls_a - before);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
}

/* Each of several failed requests is told, also if the program asks for no statuses. */
static void of_requests_without_statuses(MPI_File file, MPI_Errhandler a) {
  MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  char byte = 0;
  MPI_File_set_errhandler(file, a);
  const int before = calls_a;
  for (int index = 0; index < 2; ++index) {
    MPI_File_iwrite_at_all(file, -5, &byte, 1, MPI_BYTE, &requests[index]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(calls_a == before + 2, "of 2 requests at -5, %d were told", calls_a - before);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
}

static void end_split(MPI_File* file, int* code, ...) {
  MPI_Status status;
  static char byte;
  (void)code;
  check_ok(MPI_File_write_at_all_end(*file, &byte, &status), "end in the handler");
}

/* The error handler for a second begin ends the first split operation. */
static void ended_in_the_handler(MPI_File file) {
  MPI_Errhandler handler;
  char byte = 0;
  MPI_File_create_errhandler(end_split, &handler);
  MPI_File_set_errhandler(file, handler);
  check_ok(MPI_File_write_at_all_begin(file, 0, &byte, 1, MPI_BYTE), "begin");
  check(MPI_File_write_at_all_begin(file, 0, &byte, 1, MPI_BYTE) != MPI_SUCCESS,
        "a second split began");
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Errhandler a;
  MPI_Errhandler b;
  MPI_Init(&argc, &argv);
  MPI_File_create_errhandler(handler_a, &a);
  MPI_File_create_errhandler(handler_b, &b);
  MPI_File_open(MPI_COMM_WORLD, check_path("handlers"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                MPI_INFO_NULL, &file);
  of_a_file(file, a, b);
  of_requests(file, a);
  of_a_request_asked_about(file, a);
  of_requests_without_statuses(file, a);
  if (getenv("NACRE_TEST_EXPECT") != NULL) ended_in_the_handler(file);
  MPI_File_close(&file);
  of_no_file(a);
  MPI_Errhandler_free(&a);
  MPI_Errhandler_free(&b);
  return check_finish();
}
