/* Segmentation on four ranks: groups from a cartesian communicator or a hint, an algorithm for each
 * view, and the bytes in the file. */
#include "report.h"

enum { ranks = 4, piece = 1024, pieces = 64 };

static char out[piece * pieces];
static char in[piece * pieces];

/* The byte that rank `rank` writes at its byte `i` in step `step`. */
static char byte_of(int rank, int i, int step) { return (char)(rank * 31 + i * 7 + step); }

static MPI_Info hints(const char* algorithm, const char* groups, const char* report) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nacre_algorithm", algorithm);
  MPI_Info_set(info, "nacre_groups", groups);
  /* The bytes of one and a half ranks: the two rows of the grid are two groups, and without the
   * grid the four ranks would be three. On Lustre, the library rounds it up to whole stripes. */
  MPI_Info_set(info, "nacre_saturation_bytes", "98304");
  MPI_Info_set(info, "striping_unit", "65536");
  MPI_Info_set(info, "striping_factor", "1");
  MPI_Info_set(info, "cb_buffer_size", "4096");
  MPI_Info_set(info, "nacre_report", report);
  return info;
}

/* A view of every fourth piece of the file, from the first piece of the rank on. */
static MPI_Datatype slice(void) {
  MPI_Datatype type;
  MPI_Datatype sized;
  MPI_Type_contiguous(piece, MPI_BYTE, &type);
  MPI_Type_create_resized(type, 0, (MPI_Aint)piece * ranks, &sized);
  MPI_Type_commit(&sized);
  MPI_Type_free(&type);
  return sized;
}

static void write_and_read(MPI_File file, int rank, int step) {
  const MPI_Offset begin = (MPI_Offset)step * piece * pieces;
  for (int i = 0; i < piece * pieces; i++) out[i] = byte_of(rank, i, step);
  memset(in, 0, sizeof in);
  check_ok(MPI_File_write_at_all(file, begin, out, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE),
           "write");
  check_ok(MPI_File_read_at_all(file, begin, in, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE),
           "read");
  check(memcmp(in, out, sizeof in) == 0, "rank %d reads other bytes than it wrote", rank);
}

/* Checks the file with plain reads on one rank. */
static void check_contents(const char* path, int steps) {
  FILE* file = fopen(path, "rb");
  if (!check(file != NULL, "%s cannot be opened", path)) return;
  int wrong = 0;
  for (long i = 0; i < (long)steps * ranks * piece * pieces; i++) {
    const int step = (int)(i / ((long)ranks * piece * pieces));
    const long within = i % ((long)ranks * piece * pieces);
    const int rank = (int)(within / piece % ranks);
    const int at = (int)(within / piece / ranks * piece + within % piece);
    wrong += fgetc(file) != (unsigned char)byte_of(rank, at, step);
  }
  fclose(file);
  check(wrong == 0, "%d bytes of the file are wrong", wrong);
}

static void run(MPI_Comm comm, const char* first, const char* second, const char* groups,
                const char* aggregators) {
  const char* path = check_path("groups");
  const char* report = check_path("groups-report");
  const int rank = check_rank(comm);
  MPI_Datatype type = slice();
  MPI_File file;
  MPI_Info info = hints(first, groups, report);
  check_ok(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file), "open");
  MPI_Info_free(&info);
  check_ok(
      MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, type, "native", MPI_INFO_NULL),
      "set_view");
  write_and_read(file, rank, 0);
  write_and_read(file, rank, 1);
  info = hints(second, groups, report);
  check_ok(MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, type, "native", info),
           "set_view");
  MPI_Info_free(&info);
  write_and_read(file, rank, 2);
  check_ok(MPI_File_close(&file), "close");
  if (rank == 0) check_contents(path, 3);
  if (check_is_nacre()) {
    check_report_has(report, first);
    check_report_has(report, second);
    check_report_has(report, aggregators);
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  const int lengths[] = {2, 2};
  const int periods[] = {0, 0};
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  check(check_size(MPI_COMM_WORLD) == ranks, "this test is for %d ranks", ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &grid);
  /* Of the second group another rank, if the first rank shares a node with an aggregator. */
  const int on_two_nodes =
      getenv("NACRE_TEST_RANKS_PER_NODE") != NULL || getenv("NACRE_TEST_SECOND") != NULL;
  run(grid, "dynamic_segmentation", "static_segmentation", "automatic",
      "\"aggregator_ranks\":[0,2]");
  run(grid, "two_phase", "dynamic_segmentation", "0+3/1-2",
      on_two_nodes ? "\"aggregator_ranks\":[0,2]" : "\"aggregator_ranks\":[0,1]");
  run(MPI_COMM_WORLD, "static_segmentation", "direct", "1+3/0+2",
      on_two_nodes ? "\"aggregator_ranks\":[1,2]" : "\"aggregator_ranks\":[1,0]");
  MPI_Comm_free(&grid);
  return check_finish();
}
