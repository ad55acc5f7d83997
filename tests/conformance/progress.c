/* A rank is in a blocking call while its partner waits for a nonblocking collective call of both.
 * This must not deadlock. The arguments are the requested thread level (single, funneled or
 * multiple) and "barrier", if Nacre can make progress during a collective call of the MPI.
 *
 * Rank 0 starts iwrite_all and blocks in MPI_Recv. All other ranks start it and wait for it before
 * they send. By the progress rule of the standard, the part of rank 0 must progress while it is
 * inside MPI (MPI 4.1, 3.7.4 and 14.4.5). */
#include "check.h"

enum { block = 1 << 16, rounds = 5 };

static int level_of(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "single";
  if (strcmp(name, "multiple") == 0) return MPI_THREAD_MULTIPLE;
  return strcmp(name, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

static void sit_in_receive(MPI_Request* request, int round) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  MPI_Status status;
  if (rank == 0) {
    for (int from = 1; from < size; ++from) {
      int said = -1;
      MPI_Recv(&said, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &status);
      check(said == round, "round %d: rank %d says %d", round, from, said);
    }
    check_ok(MPI_Wait(request, &status), "wait");
  } else {
    check_ok(MPI_Wait(request, &status), "wait");
    MPI_Send(&round, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  }
  check(check_status_bytes(&status) == block, "the status says %d bytes",
        check_status_bytes(&status));
}

/* As above. Rank 0 blocks in a barrier that other ranks enter after their wait. */
static void sit_in_barrier(MPI_Request* request) {
  MPI_Status status;
  if (check_rank(MPI_COMM_WORLD) == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    check_ok(MPI_Wait(request, &status), "wait");
  } else {
    check_ok(MPI_Wait(request, &status), "wait");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* The same, in a loop of probes. */
static void sit_in_probes(MPI_File file, char* out) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Status status;
  int there = 0;
  int said = -1;
  MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, out, block, MPI_BYTE, &request);
  if (rank != 0) {
    check_ok(MPI_Wait(&request, &status), "wait");
    MPI_Send(&rank, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    return;
  }
  for (int from = 1; from < size; ++from) {
    for (there = 0; !there;) MPI_Iprobe(from, 8, MPI_COMM_WORLD, &there, &status);
    MPI_Recv(&said, 1, MPI_INT, from, 8, MPI_COMM_WORLD, &status);
  }
  check_ok(MPI_Wait(&request, &status), "wait");
}

/* A send that is refused leaves no receive behind, which would take the message of a later one. */
static void refused_send(MPI_File file, char* out) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  MPI_Comm own;
  MPI_Request request;
  MPI_Request sending;
  MPI_Status status;
  int said = -1;
  int stolen = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, out, block, MPI_BYTE, &request);
  check(MPI_Sendrecv(&rank, 1, MPI_INT, size + 5, 7, &stolen, 1, MPI_INT, MPI_ANY_SOURCE, 7, own,
                     &status) != MPI_SUCCESS,
        "there is no such destination");
  MPI_Isend(&rank, 1, MPI_INT, rank, 7, own, &sending);
  check_ok(MPI_Recv(&said, 1, MPI_INT, rank, 7, own, &status), "receive");
  check(said == rank && stolen == -1, "%d arrived, and %d behind the refused call", said, stolen);
  check_ok(MPI_Wait(&sending, &status), "wait for the send");
  check_ok(MPI_Wait(&request, &status), "wait");
  MPI_Comm_free(&own);
}

/* A start must not wait for other ranks: rank 0 starts only after all other ranks have started. */
static void starting_is_local(MPI_File file, char* out) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  if (rank != 0)
    MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, out, block, MPI_BYTE, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_iwrite_at_all(file, 0, out, block, MPI_BYTE, &request);
  check_ok(MPI_Wait(&request, &status), "wait");
}

/* The first open on a communicator, which other ranks call only after their wait. */
static void sit_in_open(MPI_File file, char* out) {
  const int rank = check_rank(MPI_COMM_WORLD);
  MPI_Comm fresh;
  MPI_File other;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, out, block, MPI_BYTE, &request);
  if (rank != 0) check_ok(MPI_Wait(&request, &status), "wait");
  check_ok(MPI_File_open(fresh, check_path("progress-other"),
                         MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &other),
           "open on a fresh communicator");
  if (rank == 0) check_ok(MPI_Wait(&request, &status), "wait");
  check_ok(MPI_File_close(&other), "close");
  MPI_Comm_free(&fresh);
}

int main(int argc, char** argv) {
  static char out[block];
  static char in[block];
  int provided = 0;
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  MPI_Init_thread(&argc, &argv, level_of(argc, argv), &provided);
  const int rank = check_rank(MPI_COMM_WORLD);
  check_ok(MPI_File_open(MPI_COMM_WORLD, check_path("progress"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                         MPI_INFO_NULL, &file),
           "open");
  for (int round = 0; round < rounds; ++round) {
    memset(out, round * 16 + rank, block);
    check_ok(MPI_File_iwrite_at_all(file, (MPI_Offset)rank * block, out, block, MPI_BYTE, &request),
             "iwrite_at_all");
    sit_in_receive(&request, round);
    check_ok(MPI_File_iread_at_all(file, (MPI_Offset)rank * block, in, block, MPI_BYTE, &request),
             "iread_at_all");
    if (argc > 2)
      sit_in_barrier(&request);
    else
      sit_in_receive(&request, round);
    check(memcmp(in, out, block) == 0, "round %d: other bytes came back", round);
  }
  starting_is_local(file, out);
  sit_in_probes(file, out);
  sit_in_open(file, out);
  refused_send(file, out);
  check_ok(MPI_File_read_at_all(file, (MPI_Offset)rank * block, in, block, MPI_BYTE, &status),
           "read_at_all");
  check_ok(MPI_File_close(&file), "close");
  return check_finish();
}
