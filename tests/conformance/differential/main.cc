// Compares random programs of opens, views, datatypes and data accesses with a serial oracle: every
// byte and every status. The seed determines the programs:
//
//   mpiexec -n 4 differential --seed 7 --cases 1000 [--first 0] [--without eof,external32]
//   [--check-each-step]
//
// Each program opens a file on its own communicator: all ranks, some ranks, or the ranks in reverse
// order.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include <unistd.h>

#include "../check.h"
#include "program.h"

namespace {

using differential::Options;
using differential::Program;
using differential::Random;

constexpr unsigned hang_seconds = 300;
constexpr int failures_max = 3;

/// If a program hangs or crashes, prints what the rank was doing. Async-signal-safe.
void report(int number) {
  const char* text = Program::current();
  const char head[] = "HANG or CRASH: ";
  std::signal(number, SIG_DFL);
  ssize_t written = write(STDOUT_FILENO, head, sizeof head - 1);
  written += write(STDOUT_FILENO, text, std::strlen(text));
  written += write(STDOUT_FILENO, "\n", 1);
  if (number == SIGALRM) {
    _exit(written > 0 ? 3 : 4);
  }
  raise(number);
}

struct Run {
  Options options;
  std::uint64_t first = 0;
  std::uint64_t cases = 100;
};

bool parse(int argc, char** argv, Run& run) {
  for (int index = 1; index < argc; ++index) {
    const std::string name = argv[index];
    if (name == "--check-each-step") {
      run.options.check_each_step = true;
      continue;
    }
    if (name == "--check-types") {
      run.options.check_types = true;
      continue;
    }
    if (++index == argc) {
      return false;
    }
    if (name == "--seed") {
      run.options.seed = std::strtoull(argv[index], nullptr, 10);
    } else if (name == "--first") {
      run.first = std::strtoull(argv[index], nullptr, 10);
    } else if (name == "--cases") {
      run.cases = std::strtoull(argv[index], nullptr, 10);
    } else if (name == "--without") {
      std::istringstream list(argv[index]);
      for (std::string feature; std::getline(list, feature, ',');) {
        run.options.without.insert(feature);
      }
    } else {
      return false;
    }
  }
  return true;
}

/// The communicator of one program; MPI_COMM_NULL on ranks that do not take part.
MPI_Comm draw_communicator(Random random, int rank, int size) {
  const int kind = random.below(100);
  const bool reversed = kind < 20;
  const bool smaller = kind >= 80 && size > 1;
  const int colour = smaller && rank == size - 1 ? MPI_UNDEFINED : 0;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, colour, reversed ? -rank : rank, &comm);
  return comm;
}

bool run_one(const Run& run, std::uint64_t number) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  alarm(hang_seconds);
  MPI_Comm comm =
      draw_communicator(Random(differential::mix(run.options.seed + 1) ^ number), rank, size);
  int good = 1;
  if (comm != MPI_COMM_NULL) {
    good = Program(comm, run.options, number).run() ? 1 : 0;
    MPI_Comm_free(&comm);
  }
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  alarm(0);
  return all == 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Run run;
  const char* directory = std::getenv("NACRE_TEST_SCRATCH");
  run.options.directory = directory != nullptr ? directory : ".";
  if (!parse(argc, argv, run)) {
    std::fprintf(stderr,
                 "usage: %s --seed N --cases N [--first N] [--without a,b] [--check-each-step]\n",
                 argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
    std::signal(number, report);
  }
  std::uint64_t done = 0;
  int failures = 0;
  for (; done < run.cases && failures < failures_max; ++done) {
    failures += run_one(run, run.first + done) ? 0 : 1;
  }
  if (rank == 0) {
    std::printf("differential: %llu programs, seed %llu, %d ranks, %d failed\n",
                static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(run.options.seed), size, failures);
  }
  const int served = check_served();
  MPI_Finalize();
  return failures == 0 && served == 0 ? 0 : 1;
}
