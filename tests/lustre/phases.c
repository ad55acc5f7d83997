/* For requests.py: a program in phases. `phases FILE FOLDER [PIECE [BYTES]]`: after each phase all
 * ranks wait until FOLDER/PHASE.counted exists; rank 0 has made FOLDER/PHASE.done. In the phases
 * open, write, read and close the ranks write and read BYTES bytes in all, in interleaved pieces,
 * by collective calls; in `later` they write the same again; in `alone` each rank writes its pieces
 * of another part of the file by itself. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { alone_pieces = 16 };

static int rank, size;
static const char* folder;
static const char* phase_now = "start";
static long wrong;

static void name_of(char* name, size_t bytes, const char* phase, const char* suffix) {
  snprintf(name, bytes, "%s/%s.%s", folder, phase, suffix);
}

/* Ends the phase, and begins `next`. */
static void end(const char* next) {
  const char* const phase = phase_now;
  char name[4096];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    name_of(name, sizeof name, phase, "done");
    fclose(fopen(name, "w"));
    name_of(name, sizeof name, phase, "counted");
    while (access(name, F_OK) != 0) usleep(10000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  phase_now = next;
}

static const char* name_of_class(int code) {
  static const struct {
    int value;
    const char* name;
  } classes[] = {{MPI_ERR_IO, "IO"},         {MPI_ERR_NO_SPACE, "NO_SPACE"},
                 {MPI_ERR_QUOTA, "QUOTA"},   {MPI_ERR_ACCESS, "ACCESS"},
                 {MPI_ERR_NO_MEM, "NO_MEM"}, {MPI_ERR_READ_ONLY, "READ_ONLY"}};
  int found = 0;
  MPI_Error_class(code, &found);
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i) {
    if (classes[i].value == found) return classes[i].name;
  }
  return "OTHER";
}

/* Whether the call succeeded. */
static int check(int code) {
  if (code == MPI_SUCCESS) return 1;
  if (wrong++ < 100) printf("rank %d: %s failed: %s\n", rank, phase_now, name_of_class(code));
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  folder = argv[2];
  const int piece = argc > 3 ? atoi(argv[3]) : 47008;
  const long bytes = argc > 4 ? atol(argv[4]) : 16L << 20;
  const int pieces = (int)(bytes / piece / size);
  const int own = piece * pieces;
  const MPI_Offset place = (MPI_Offset)rank * piece;
  char* written = malloc((size_t)own);
  char* read = calloc((size_t)own, 1);
  for (int i = 0; i < own; ++i) written[i] = (char)(i * 7 + rank * 13);
  MPI_Datatype interleaved;
  MPI_Type_vector(pieces, piece, piece * size, MPI_BYTE, &interleaved);
  MPI_Type_commit(&interleaved);
  MPI_File file;
  end("open");

  if (!check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file))) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  end("write");
  check(MPI_File_set_view(file, place, MPI_BYTE, interleaved, "native", MPI_INFO_NULL));
  check(MPI_File_write_at_all(file, 0, written, own, MPI_BYTE, MPI_STATUS_IGNORE));
  end("later");
  check(MPI_File_write_at_all(file, 0, written, own, MPI_BYTE, MPI_STATUS_IGNORE));
  end("sync");
  check(MPI_File_sync(file));
  end("read");
  if (check(MPI_File_read_at_all(file, 0, read, own, MPI_BYTE, MPI_STATUS_IGNORE)) &&
      memcmp(read, written, (size_t)own) != 0) {
    printf("rank %d: read wrong bytes\n", rank);
    ++wrong;
  }
  end("alone");
  check(MPI_File_set_view(file, (MPI_Offset)own * size + place, MPI_BYTE, interleaved, "native",
                          MPI_INFO_NULL));
  for (int i = 0; i < alone_pieces && i < pieces; ++i) {
    check(MPI_File_write_at(file, (MPI_Offset)i * piece, written, piece, MPI_BYTE,
                            MPI_STATUS_IGNORE));
  }
  end("close");
  check(MPI_File_close(&file));
  end("");

  if (rank == 0) printf("%d ranks\n", size);
  MPI_Type_free(&interleaved);
  free(written);
  free(read);
  MPI_Finalize();
  return wrong != 0;
}
