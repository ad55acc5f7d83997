#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nacre::bench {

enum class Engine {
  mpi_io,     ///< the MPI-IO calls of the workload
  plain,      ///< pwrite and pread of the same bytes, one contiguous piece per rank
  copy_only,  ///< a copy of the same bytes between two buffers, without a file
  hand,       ///< the hand-written program for this workload, without MPI-IO
};

/// A workload to run, and the options for it alone.
struct Task {
  std::string workload;
  /// The name of the workload in the output.
  std::string label;
  /// Block size, for the workloads whose block size can be chosen; 0: their default.
  std::int64_t block_bytes = 0;
  /// Approximate file size; 0: Options::bytes.
  std::int64_t bytes = 0;
  /// Hints of this task, set after Options::hints.
  std::vector<std::pair<std::string, std::string>> hints = {};
  /// Does not write: reads the file that the preceding task leaves.
  bool read_only = false;
  /// Measures no memory and prints no info, which take longer than a small workload.
  bool times_only = false;
};

struct Options {
  std::vector<Task> tasks;
  std::string file;
  Engine engine = Engine::mpi_io;
  std::int64_t bytes = std::int64_t{64} << 20;
  int warmups = 1;
  int repeats = 1;
  /// Calls MPI_File_sync (fsync) before the close of a written file, and includes its time.
  bool sync = false;
  std::vector<std::pair<std::string, std::string>> hints;
  /// For tests: offset of a byte of the file to change after the write. The checks must find it.
  /// -1: none.
  std::int64_t damaged_offset = -1;
  /// Seconds after which a rank ends itself, so that no rank outlives a killed launcher. 0: never.
  unsigned time_limit = 0;
  /// Checks the file with plain reads in the first repeat.
  bool check_file = true;
  /// Does not read through MPI-IO.
  bool write_only = false;
  /// An extended attribute of the file's directory that returns counters as JSON; setting it resets
  /// them. The worker sets it before each pass and prints it after the pass. Empty: none.
  std::string counters;
  bool list = false;
  /// Why the command line is wrong; empty if it is not.
  std::string error;
};

[[nodiscard]] Options parse_options(int argc, char** argv);

[[nodiscard]] const char* usage();

}  // namespace nacre::bench
