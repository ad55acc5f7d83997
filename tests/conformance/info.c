/* Hints: set at open, changed by set_info and set_view, read by get_info. They are the same on
 * every rank. Unknown hints are ignored. */
#include "check.h"

static int value_of(MPI_File file, const char* key, char* value) {
  MPI_Info info = MPI_INFO_NULL;
  int found = 0;
  check_ok(MPI_File_get_info(file, &info), "get_info");
  if (!check(info != MPI_INFO_NULL, "get_info gives MPI_INFO_NULL")) return 0;
  MPI_Info_get(info, key, 255, value, &found);
  MPI_Info_free(&info);
  return found;
}

static void is(MPI_File file, const char* key, const char* right) {
  char value[256] = "";
  char first[256] = "";
  check(value_of(file, key, value) && strcmp(value, right) == 0, "%s is '%s', must be '%s'", key,
        value, right);
  memcpy(first, value, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  check(strcmp(first, value) == 0, "%s differs between ranks: '%s' and '%s'", key, first, value);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Info info;
  MPI_Info again;
  MPI_Status status;
  char value[256];
  char byte = 1;
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "2097152");
  MPI_Info_set(info, "no_such_hint", "nothing");
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("info"), MPI_MODE_RDWR | MPI_MODE_CREATE, info,
                         &file),
           "open");
  is(file, "cb_buffer_size", "2097152");
  MPI_Info_set(info, "cb_buffer_size", "4194304");
  is(file, "cb_buffer_size", "2097152");
  check_ok(MPI_File_set_info(file, info), "set_info");
  is(file, "cb_buffer_size", "4194304");
  MPI_Info_set(info, "cb_buffer_size", "not a number");
  check_ok(MPI_File_set_info(file, info), "set_info of nonsense");
  is(file, "cb_buffer_size", "4194304");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
           "set_view without info");
  is(file, "cb_buffer_size", "4194304");
  MPI_Info_set(info, "cb_buffer_size", "1048576");
  check_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info), "set_view with info");
  is(file, "cb_buffer_size", "1048576");
  MPI_Info_free(&info);
  check_ok(MPI_File_get_info(file, &again), "get_info");
  check_ok(MPI_File_set_info(file, again), "set_info of what get_info gave");
  MPI_Info_free(&again);
  is(file, "cb_buffer_size", "1048576");
  check(!value_of(file, "no_such_hint", value), "an unknown hint is told back");
  check_ok(MPI_File_write_at_all(file, check_rank(MPI_COMM_WORLD), &byte, 1, MPI_BYTE, &status),
           "write");
  check_ok(MPI_File_close(&file), "close");
  return check_finish();
}
