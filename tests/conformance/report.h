/* Checks the report of Nacre on a closed file. */
#ifndef NACRE_TESTS_CONFORMANCE_REPORT_H_
#define NACRE_TESTS_CONFORMANCE_REPORT_H_

#include "check.h"

/* Whether the test runs with Nacre. */
static inline int check_is_nacre(void) { return getenv("NACRE_TEST_EXPECT") != NULL; }

/* On rank 0, checks that the last line of the report at `path` contains `wanted`. */
static inline void check_report_has(const char* path, const char* wanted) {
  static char line[1 << 16];
  int lines = 0;
  if (check_rank(MPI_COMM_WORLD) != 0) return;
  FILE* report = fopen(path, "r");
  while (report != NULL && fgets(line, sizeof line, report) != NULL) lines++;
  if (report != NULL) fclose(report);
  if (!check(lines > 0, "there is no report")) return;
  check(strstr(line, wanted) != NULL, "the report has no %s: %s", wanted, line);
}

#endif /* NACRE_TESTS_CONFORMANCE_REPORT_H_ */
