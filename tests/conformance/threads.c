/* MPI_THREAD_MULTIPLE: several threads of each rank use one file concurrently, each its own part,
 * with blocking and nonblocking, independent and shared-pointer calls, while one thread blocks in a
 * message. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { threads = 4, pieces = 100, piece_ints = 16 };

static MPI_File file;
static int rank;
static int failed[threads];

static MPI_Offset place(int thread, int index) {
  return (MPI_Offset)sizeof(int) * piece_ints *
         (((MPI_Offset)rank * threads + thread) * pieces + index);
}

static void* work(void* argument) {
  const int thread = (int)(intptr_t)argument;
  for (int index = 0; index < pieces; ++index) {
    MPI_Status status;
    MPI_Request request;
    int out[piece_ints];
    int in[piece_ints];
    for (int item = 0; item < piece_ints; ++item)
      out[item] = (rank * threads + thread) * 10000 + index * 16 + item;
    int code;
    if (index % 3 == 0) {
      code = MPI_File_iwrite_at(file, place(thread, index), out, piece_ints, MPI_INT, &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    } else {
      code = MPI_File_write_at(file, place(thread, index), out, piece_ints, MPI_INT, &status);
    }
    if (code == MPI_SUCCESS)
      code = MPI_File_read_at(file, place(thread, index), in, piece_ints, MPI_INT, &status);
    if (code != MPI_SUCCESS || memcmp(in, out, sizeof in) != 0) ++failed[thread];
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t thread[threads];
  MPI_Offset size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    printf("skipped: this MPI provides thread level %d only\n", provided);
    MPI_Finalize();
    return 77;
  }
  rank = check_rank(MPI_COMM_WORLD);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("threads"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  for (intptr_t index = 0; index < threads; ++index)
    pthread_create(&thread[index], NULL, work, (void*)index);
  for (int index = 0; index < threads; ++index) {
    pthread_join(thread[index], NULL);
    check(failed[index] == 0, "rank %d thread %d: %d pieces of %d wrong", rank, index,
          failed[index], pieces);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_ok(MPI_File_get_size(file, &size), "get_size");
  check(
      size == (MPI_Offset)sizeof(int) * piece_ints * pieces * threads * check_size(MPI_COMM_WORLD),
      "size %lld", (long long)size);
  check_ok(MPI_File_close(&file), "close");
  return check_finish();
}
