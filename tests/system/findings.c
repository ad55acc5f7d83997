/* The programs of test_findings.py: `findings FILE CASE` raises a finding, `findings FILE CASE
 * good` is like it and does not. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kib = 1 << 10, mib = 1 << 20 };

static int rank, size, good;
static char* path;
static char* buffer;

static MPI_File open_file(MPI_Comm comm, const char* name) {
  MPI_File file;
  MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  return file;
}

static void set_hint(MPI_File file, const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  MPI_File_set_info(file, info);
  MPI_Info_free(&info);
}

/* Pieces of `bytes`, dealt to the ranks in turn. */
static void set_interleaved_view(MPI_File file, int bytes, int count) {
  MPI_Datatype pieces;
  MPI_Type_vector(count, bytes, bytes * size, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, (MPI_Offset)bytes * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_Type_free(&pieces);
}

static void write_interleaved(MPI_File file, int bytes, int count, int together) {
  if (together) {
    set_interleaved_view(file, bytes, count);
    MPI_File_write_all(file, buffer, bytes * count, MPI_BYTE, MPI_STATUS_IGNORE);
    return;
  }
  for (int i = 0; i < count; ++i) {
    const MPI_Offset at = ((MPI_Offset)i * size + rank) * bytes;
    MPI_File_write_at(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void collective_missing(MPI_File file) { write_interleaved(file, 512, 2000, good); }

static void small_accesses(MPI_File file) {
  const int bytes = good ? mib : 512;
  for (int i = 0; i < 4000 * 512 / bytes; ++i)
    MPI_File_write(file, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void one_rank(MPI_File file) {
  for (int i = 0; i < 32; ++i) {
    if (rank == (good ? i % size : 0)) {
      MPI_File_write_at(file, (MPI_Offset)i * mib, buffer, mib, MPI_BYTE, MPI_STATUS_IGNORE);
    }
  }
}

/* The first two ranks are on one node. */
static void one_node(MPI_File file) {
  const int writers = good ? size : 2;
  for (int i = rank; i < 32; i += writers) {
    if (rank < writers)
      MPI_File_write_at(file, (MPI_Offset)i * mib, buffer, mib, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

/* The launch decides how many ranks a node has. */
static void uneven_nodes(MPI_File file) {
  MPI_File_write_at_all(file, (MPI_Offset)rank * 4 * mib, buffer, 4 * mib, MPI_BYTE,
                        MPI_STATUS_IGNORE);
}

static void uneven_ranks(MPI_File file) {
  const int mine = good || rank == 1 ? 4 * mib : 0;
  for (int i = 0; i < 4; ++i) {
    MPI_File_write_at_all(file, (MPI_Offset)rank * 4 * mib, buffer, mine, MPI_BYTE,
                          MPI_STATUS_IGNORE);
  }
}

static void late_ranks(MPI_File file) {
  set_interleaved_view(file, kib, 64);
  for (int i = 0; i < 3; ++i) {
    if (!good && rank == i) usleep(200000);
    MPI_File_write_at_all(file, 0, buffer, 64 * kib, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void reopened(MPI_File file) {
  for (int i = 0; i < (good ? 2 : 40); ++i) {
    MPI_File again = open_file(MPI_COMM_WORLD, path);
    MPI_File_close(&again);
  }
  write_interleaved(file, mib, 8, 1);
}

static void size_storm(MPI_File file) {
  MPI_Offset found;
  for (int i = 0; i < (good ? 10 : 20000); ++i) MPI_File_get_size(file, &found);
  write_interleaved(file, kib, 8, 1);
}

/* The disk of the cases is as slow as they say: this fsync comes before that of the C library. */
static int sync_microseconds;
int fsync(int file) {
  (void)file;
  usleep(sync_microseconds);
  return 0;
}

static void slow_sync(MPI_File file) {
  sync_microseconds = 200000;
  for (int i = 0; i < 3; ++i) {
    MPI_File_write_at(file, (MPI_Offset)rank * kib, buffer, kib, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!good) MPI_File_sync(file);
  }
}

static void sync_storm(MPI_File file) {
  for (int i = 0; i < 60; ++i) {
    MPI_File_write_at(file, (MPI_Offset)rank * kib, buffer, kib, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!good || i == 0) MPI_File_sync(file);
  }
}

static void view_storm(MPI_File file) {
  for (int i = 0; i < (good ? 2 : 400); ++i) set_interleaved_view(file, kib, 8);
  MPI_File_write_all(file, buffer, 8 * kib, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void file_per_rank(MPI_File file) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", path, rank);
  if (!good) {
    MPI_File own = open_file(MPI_COMM_SELF, name);
    MPI_File_write(own, buffer, kib, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&own);
  } else {
    write_interleaved(file, kib, 1, 1);
  }
}

static void many_files(MPI_File file) {
  char name[4096];
  for (int i = 0; i < (good ? 0 : 40); ++i) {
    snprintf(name, sizeof name, "%s.%d", path, i);
    MPI_File step = open_file(MPI_COMM_WORLD, name);
    MPI_File_write_at(step, rank * kib, buffer, kib, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&step);
  }
  write_interleaved(file, kib, 40, 1);
}

static void many_own_files(MPI_File file) {
  char name[4096];
  const int files = good ? 1 : 40;
  (void)file;
  for (int i = 0; i < files; ++i) {
    snprintf(name, sizeof name, "%s.%d.%d", path, rank, i);
    MPI_File own = open_file(MPI_COMM_SELF, name);
    for (int piece = 0; piece < 40 / files; ++piece)
      MPI_File_write(own, buffer, kib, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&own);
  }
}

/* The test makes each access take long. */
static void few_aggregators(MPI_File file) {
  set_hint(file, "nacre_algorithm", "two_phase");
  set_hint(file, "cb_nodes", good ? "2" : "1");
  MPI_File_write_at_all(file, (MPI_Offset)rank * 4 * mib, buffer, 4 * mib, MPI_BYTE,
                        MPI_STATUS_IGNORE);
}

static void hint_without_aggregators(MPI_File file) {
  set_hint(file, "nacre_algorithm", good ? "two_phase" : "direct");
  set_hint(file, "cb_nodes", "2");
  write_interleaved(file, mib, 1, 1);
}

static void hint_without_effect(MPI_File file) {
  set_hint(file, "cb_buffer_size", good ? "4194304" : "none");
  set_hint(file, good ? "cb_nodes" : "cb_node", "4");
  set_hint(file, "nacre_algorithm", "two_phase");
  write_interleaved(file, kib, 8, 1);
}

static void read_modify_write(MPI_File file) {
  MPI_File_set_size(file, 64 * mib);
  set_hint(file, "nacre_sole_writer", good ? "false" : "true");
  set_interleaved_view(file, 64, 4000);
  for (int i = 0; i < 8; ++i)
    MPI_File_write_at(file, 0, buffer, 4000 * 64, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void reads_holes(MPI_File file) {
  MPI_Datatype pieces;
  MPI_File_set_size(file, 64 * mib);
  MPI_Type_vector(4000, 64, good ? 64 : kib, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, 0, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  for (int i = 0; i < 8; ++i)
    MPI_File_read_at(file, 0, buffer, 4000 * 64, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_Type_free(&pieces);
}

static void small_collective_calls(MPI_File file) {
  const int calls = good ? 1 : 400;
  for (int i = 0; i < calls; ++i) {
    const MPI_Offset at = ((MPI_Offset)i * size + rank) * kib * (400 / calls);
    MPI_File_write_at_all(file, at, buffer, kib * (400 / calls), MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void metadata_by_all_ranks(MPI_File file) {
  MPI_File_set_size(file, mib);
  for (int i = 0; i < 2000; ++i) {
    if (!good || rank == 0)
      MPI_File_read_at(file, i * 512, buffer, 512, MPI_BYTE, MPI_STATUS_IGNORE);
    if (good) MPI_Bcast(buffer, 512, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
}

static void back_and_forth(MPI_File file) {
  MPI_File_set_size(file, 128 * mib);
  for (int i = 0; i < 256; ++i) {
    const int piece = good ? i : i * 97 % 256;
    MPI_File_read_at(file, (MPI_Offset)piece * 512 * kib, buffer, 512 * kib, MPI_BYTE,
                     MPI_STATUS_IGNORE);
  }
}

static void unaligned(MPI_File file) {
  const int bytes = good ? mib : mib + 100;
  for (int i = 0; i < 8; ++i) {
    const MPI_Offset at = ((MPI_Offset)rank * 8 + i) * bytes;
    MPI_File_write_at(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void unaligned_reads(MPI_File file) {
  const int bytes = good ? mib : mib + 100;
  MPI_File_set_size(file, (MPI_Offset)size * 8 * bytes);
  for (int i = 0; i < 8; ++i) {
    const MPI_Offset at = ((MPI_Offset)rank * 8 + i) * bytes;
    MPI_File_read_at(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

/* All ranks need the same 32 MiB. */
static void redundant_reads(MPI_File file) {
  const int bytes = 32 * mib / size;
  char* const all = malloc((size_t)bytes * size);
  MPI_File_set_size(file, 32 * mib);
  if (good) {
    MPI_File_read_at(file, (MPI_Offset)rank * bytes, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Allgather(buffer, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < 32; ++i)
      MPI_File_read_at(file, (MPI_Offset)i * mib, all, mib, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  free(all);
}

static void redundant_collective_reads(MPI_File file) {
  MPI_File_set_size(file, 32 * mib);
  set_hint(file, "nacre_algorithm", good ? "two_phase" : "direct");
  for (int i = 0; i < 32; ++i)
    MPI_File_read_at_all(file, (MPI_Offset)i * mib, buffer, mib, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void redundant_reads_of_the_file(MPI_File file) {
  const int parts = good ? size : 1;
  MPI_File again;
  write_interleaved(file, mib, 8, 1);
  MPI_File_sync(file);
  sleep(1); /* the file is older than its next open, whatever the clock of its times */
  again = open_file(MPI_COMM_WORLD, path);
  for (int i = 0; i < 32 / parts; ++i) {
    /* In an order of its own on each rank. */
    const int piece = (i * 7 + rank * 11) % (32 / parts) + (good ? rank * 32 / parts : 0);
    MPI_File_read_at(again, (MPI_Offset)piece * mib, buffer, mib, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&again);
}

/* The test delays the accesses of some ranks, or of all. */
static void slow_rank(MPI_File file) {
  const int bytes = 256 * kib;
  for (int i = 0; i < 16; ++i) {
    const MPI_Offset at = ((MPI_Offset)rank * 16 + i) * bytes;
    MPI_File_write_at(file, at, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

/* These depend on the layout that the test simulates. */
static void few_stripes(MPI_File file) {
  for (int i = 0; i < 5; ++i) {
    MPI_File_write_at_all(file, ((MPI_Offset)rank * 5 + i) * 4 * mib, buffer, 4 * mib, MPI_BYTE,
                          MPI_STATUS_IGNORE);
  }
}

static void many_stripes(MPI_File file) { write_interleaved(file, 64, 8, 1); }

static void moving_locks(MPI_File file) { write_interleaved(file, kib, 500, good); }

static const struct {
  const char* name;
  void (*run)(MPI_File file);
} cases[] = {
    {"collective-missing", collective_missing},
    {"small-accesses", small_accesses},
    {"one-rank", one_rank},
    {"one-node", one_node},
    {"uneven-nodes", uneven_nodes},
    {"back-and-forth", back_and_forth},
    {"uneven-ranks", uneven_ranks},
    {"late-ranks", late_ranks},
    {"reopened", reopened},
    {"size-storm", size_storm},
    {"slow-sync", slow_sync},
    {"sync-storm", sync_storm},
    {"view-storm", view_storm},
    {"file-per-rank", file_per_rank},
    {"many-files", many_files},
    {"many-own-files", many_own_files},
    {"few-aggregators", few_aggregators},
    {"hint-without-aggregators", hint_without_aggregators},
    {"hint-without-effect", hint_without_effect},
    {"read-modify-write", read_modify_write},
    {"reads-holes", reads_holes},
    {"small-collective-calls", small_collective_calls},
    {"metadata-by-all-ranks", metadata_by_all_ranks},
    {"unaligned", unaligned},
    {"unaligned-reads", unaligned_reads},
    {"redundant-reads", redundant_reads},
    {"redundant-collective-reads", redundant_collective_reads},
    {"redundant-reads-of-the-file", redundant_reads_of_the_file},
    {"slow-rank", slow_rank},
    {"slow-node", slow_rank},
    {"few-stripes", few_stripes},
    {"many-stripes", many_stripes},
    {"moving-locks", moving_locks},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  path = argv[1];
  good = argc > 3;
  buffer = calloc(16, mib);
  MPI_File file = open_file(MPI_COMM_WORLD, path);
  int found = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(cases[i].name, argv[2]) == 0) {
      cases[i].run(file);
      found = 1;
    }
  }
  MPI_File_close(&file);
  free(buffer);
  MPI_Finalize();
  return found ? 0 : 1;
}
