/* Ranks on several hosts: messages between two hosts use the network, and each host is a node for
 * Nacre. On one host, there is one node. */
#define _GNU_SOURCE
#include <unistd.h>

#include "report.h"

enum { name_bytes = 64, message_bytes = 4 << 20, block_bytes = 1 << 16 };

/* The host name of each rank. The caller frees it. */
static char* host_names(void) {
  char name[name_bytes] = "";
  char* names = malloc((size_t)check_size(MPI_COMM_WORLD) * name_bytes);
  gethostname(name, sizeof name - 1);
  MPI_Allgather(name, name_bytes, MPI_CHAR, names, name_bytes, MPI_CHAR, MPI_COMM_WORLD);
  return names;
}

static int same_host(const char* names, int rank, int other) {
  return strcmp(names + rank * name_bytes, names + other * name_bytes) == 0;
}

static int host_count(const char* names) {
  int count = 0;
  for (int rank = 0; rank < check_size(MPI_COMM_WORLD); rank++) {
    int lowest = 0;
    while (!same_host(names, lowest, rank)) lowest++;
    count += lowest == rank;
  }
  return count;
}

/* Bytes that this host has received through its interfaces, except loopback. */
static long long received_bytes(void) {
  char line[512];
  long long sum = 0;
  FILE* file = fopen("/proc/net/dev", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char name[64];
    long long bytes = 0;
    if (sscanf(line, " %63[^:]: %lld", name, &bytes) == 2 && strcmp(name, "lo") != 0) sum += bytes;
  }
  if (file != NULL) fclose(file);
  return sum;
}

/* Each rank sends to the rank that is half of all ranks further on, which is on another host if
 * there are several. */
static void messages_go_over_the_network(const char* names) {
  const int rank = check_rank(MPI_COMM_WORLD);
  const int size = check_size(MPI_COMM_WORLD);
  const int to = (rank + size / 2) % size;
  const int from = (rank - size / 2 + size) % size;
  char* sent = calloc(1, message_bytes);
  char* received = calloc(1, message_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long before = received_bytes();
  MPI_Sendrecv(sent, message_bytes, MPI_BYTE, to, 0, received, message_bytes, MPI_BYTE, from, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const long long came = received_bytes() - before;
  check(!same_host(names, rank, from), "rank %d's partner is on its own host", rank);
  check(came >= message_bytes, "%lld bytes came over the network, and the message had %d", came,
        message_bytes);
  free(received);
  free(sent);
}

static void report_names_the_nodes(int expected) {
  const char* path = check_path("nodes-file");
  const char* report_path = check_path("nodes-report");
  char wanted[32];
  char* block = calloc(1, block_bytes);
  MPI_Info info;
  MPI_File file;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nacre_report", report_path);
  check_ok(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
           "open");
  MPI_Info_free(&info);
  const MPI_Offset offset = (MPI_Offset)check_rank(MPI_COMM_WORLD) * block_bytes;
  check_ok(MPI_File_write_at_all(file, offset, block, block_bytes, MPI_BYTE, MPI_STATUS_IGNORE),
           "write");
  check_ok(MPI_File_close(&file), "close");
  free(block);
  snprintf(wanted, sizeof wanted, "\"nodes\":%d,", expected);
  check_report_has(report_path, wanted);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char* names = host_names();
  const int hosts = host_count(names);
  check(argc < 2 || hosts == atoi(argv[1]), "the ranks are on %d hosts", hosts);
  if (hosts > 1) messages_go_over_the_network(names);
  if (check_is_nacre()) report_names_the_nodes(hosts);
  free(names);
  return check_finish();
}
