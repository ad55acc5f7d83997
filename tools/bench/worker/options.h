#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nacre::bench {

enum class Engine {
  mpi_io,     ///< the workload's calls
  plain,      ///< the same bytes, each rank its share in one piece, with pwrite and pread
  copy_only,  ///< the same bytes from one buffer into another: no file
  hand,       ///< the program that a good user would write for this workload without MPI-IO
};

/// A workload to be run, and what is for it alone.
struct Task {
  std::string workload;
  /// What samples call it.
  std::string label;
  /// Of the workloads that are dealt in blocks of a size to be chosen; 0: their own.
  std::int64_t block_bytes = 0;
  /// Of the file, about; 0: as of all tasks.
  std::int64_t bytes = 0;
  /// Behind those of all tasks.
  std::vector<std::pair<std::string, std::string>> hints;
};

struct Options {
  std::vector<Task> tasks;
  std::string file;
  Engine engine = Engine::mpi_io;
  std::int64_t bytes = std::int64_t{64} << 20;
  int warmups = 1;
  int repeats = 1;
  /// Data is brought to the device before the file is closed, and timed.
  bool sync = false;
  std::vector<std::pair<std::string, std::string>> hints;
  /// For tests: a byte of the file, changed after the write, that the checks must find. -1: none.
  std::int64_t damaged_offset = -1;
  /// Seconds after which a rank ends itself, so that no rank outlives a launcher that was killed.
  unsigned time_limit = 0;
  /// The file itself is looked at with plain reads, in the first repeat.
  bool check_file = true;
  /// Nothing is read through MPI-IO.
  bool write_only = false;
  /// An extended attribute of the file's directory with counters as JSON, which anything set to it
  /// begins anew: set before each pass and told behind it. Empty: none.
  std::string counters;
  bool list = false;
  /// Why the command line cannot be used; empty if it can.
  std::string error;
};

[[nodiscard]] Options parse_options(int argc, char** argv);

[[nodiscard]] const char* usage();

}  // namespace nacre::bench
