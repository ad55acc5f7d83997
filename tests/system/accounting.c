/* For test_report.py: calls of every kind on the file argv[1], timed from outside. Each rank prints
 * the seconds that it spent in them. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { piece = 4096, pieces = 64, all = piece * pieces };

static double spent;

static void timed(int code, double called_at) {
  spent += MPI_Wtime() - called_at;
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}
#define TIMED(call)                       \
  do {                                    \
    const double called_at = MPI_Wtime(); \
    timed(call, called_at);               \
  } while (0)

int main(int argc, char** argv) {
  int rank, size;
  MPI_File file;
  MPI_Offset found;
  MPI_Request request;
  MPI_Datatype interleaved;
  char* data = calloc(all, 1);
  MPI_Status* const none = MPI_STATUS_IGNORE;
  (void)argc;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_vector(pieces, piece, piece * size, MPI_BYTE, &interleaved);
  MPI_Type_commit(&interleaved);
  const MPI_Offset begin = (MPI_Offset)piece * rank;

  TIMED(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file));
  TIMED(MPI_File_preallocate(file, (MPI_Offset)all * size));
  TIMED(MPI_File_set_view(file, begin, MPI_BYTE, interleaved, "native", MPI_INFO_NULL));
  for (int i = 0; i < 4; ++i) TIMED(MPI_File_write_at_all(file, 0, data, all, MPI_BYTE, none));
  TIMED(MPI_File_sync(file));
  TIMED(MPI_File_read_at_all(file, 0, data, all, MPI_BYTE, none));
  TIMED(MPI_File_iwrite_at_all(file, 0, data, all, MPI_BYTE, &request));
  TIMED(MPI_Wait(&request, none));
  TIMED(MPI_File_write_at_all_begin(file, 0, data, all, MPI_BYTE));
  TIMED(MPI_File_write_at_all_end(file, data, none));
  TIMED(MPI_File_iread_at(file, 0, data, piece, MPI_BYTE, &request));
  TIMED(MPI_Wait(&request, none));
  TIMED(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  for (int i = 0; i < 8; ++i) TIMED(MPI_File_write_at(file, begin, data, piece, MPI_BYTE, none));
  TIMED(MPI_File_read_at(file, begin, data, piece, MPI_BYTE, none));
  TIMED(MPI_File_write_shared(file, data, piece, MPI_BYTE, none));
  TIMED(MPI_File_write_ordered(file, data, piece, MPI_BYTE, none));
  TIMED(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  TIMED(MPI_File_get_position_shared(file, &found));
  TIMED(MPI_File_set_atomicity(file, 1));
  for (int i = 0; i < 4; ++i) TIMED(MPI_File_write_at(file, 0, data, piece, MPI_BYTE, none));
  TIMED(MPI_File_set_atomicity(file, 0));
  TIMED(MPI_File_get_size(file, &found));
  TIMED(MPI_File_set_size(file, found));
  TIMED(MPI_File_close(&file));

  printf("seconds %.9f\n", spent);
  MPI_Type_free(&interleaved);
  free(data);
  MPI_Finalize();
  return 0;
}
