/* Programs whose calls of POSIX a finding names, and programs like them that it must not name:
 * posix_findings DIRECTORY RULE [good]. Started by a launcher, without MPI: its rank is in
 * PMI_RANK. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[4096];

static const char* file(const char* directory, const char* stem, int number) {
  snprintf(name, sizeof name, "%s/%s.%d", directory, stem, number);
  return name;
}

static void write_lines(const char* path, int is_good) {
  static char buffer[1 << 20];
  FILE* const log = fopen(path, "w");
  if (is_good) setvbuf(log, buffer, _IOFBF, sizeof buffer);
  for (int i = 0; i < 200000; ++i) fprintf(log, "step %d of the simulation\n", i);
  fclose(log);
}

static void write_pieces(const char* path, size_t bytes, int count) {
  char* const piece = calloc(1, bytes);
  const int descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  for (int i = 0; i < count; ++i) {
    if (write(descriptor, piece, bytes) != (ssize_t)bytes) abort();
  }
  close(descriptor);
  free(piece);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const char* const directory = arguments[1];
  const char* const rule = arguments[2];
  const int is_good = count > 3;
  const char* const launched = getenv("PMI_RANK");
  const int rank = launched == NULL ? 0 : atoi(launched);
  struct stat status;
  if (strcmp(rule, "small-stream-writes") == 0) {
    write_lines(file(directory, "log", rank), is_good);
  } else if (strcmp(rule, "small-accesses") == 0) {
    write_pieces(file(directory, "data", rank), is_good ? 1 << 20 : 512, is_good ? 2 : 4000);
  } else if (strcmp(rule, "one-rank") == 0) {
    if (rank == 0 || is_good)
      write_pieces(file(directory, "data", rank), 1 << 20, is_good ? 8 : 32);
  } else if (strcmp(rule, "stat-storm") == 0) {
    for (int i = 0; i < (is_good ? 2 : 2000); ++i) stat(file(directory, "ready", 0), &status);
    write_pieces(file(directory, "data", rank), 1 << 20, 2);
  } else if (strcmp(rule, "open-storm") == 0) {
    for (int i = 0; i < (is_good ? 2 : 400); ++i) {
      const int descriptor = open(file(directory, i % 2 ? "input" : "none", i),
                                  O_RDONLY | (i % 2 ? O_CREAT : 0), 0644);
      if (descriptor >= 0) close(descriptor);
    }
    write_pieces(file(directory, "data", rank), 1 << 20, 2);
  } else if (strcmp(rule, "sync-storm") == 0) {
    const int descriptor = open(file(directory, "data", rank), O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < (is_good ? 1 : 200); ++i) fsync(descriptor);
    close(descriptor);
  } else if (strcmp(rule, "reopened") == 0) {
    write_pieces(file(directory, "data", rank), 1 << 20, 1);
    for (int i = 0; i < (is_good ? 1 : 150); ++i)
      close(open(file(directory, "data", rank), O_RDONLY));
  } else {
    return 2;
  }
  return 0;
}
