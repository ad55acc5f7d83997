// The options of nacre-simulate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "file/hints/hints.h"
#include "machine/machine.h"
#include "sim/program/rank_calls.h"
#include "sim/program/recorded_job.h"
#include "sim/workload/workload.h"

namespace nacre::simulate {

struct Options {
  machine::Machine machine;
  int nodes = 1;
  int ranks_per_node = 1;
  int rank_count = 0;                            ///< of all nodes; 0: ranks_per_node of each
  const workload::Workload* workload = nullptr;  ///< null: `recorded` is the program
  std::optional<sim::RecordedJob> recorded;
  std::int64_t bytes = 0;        ///< of the file of a workload
  std::int64_t block_bytes = 0;  ///< of the workload; 0: its default
  bool reads = false;            ///< a workload reads the file after writing it
  bool only_reads = false;       ///< a workload reads a file that is there, and in no cache
  bool reopens = false;          ///< and reads it as a later job
  bool searches = false;         ///< compares settings by the cost model instead
  bool timelines = false;        ///< prints when each resource was busy
  bool memory = false;           ///< prints the memory of the process
  bool reports_progress = false;
  bool checks_bytes = false;  ///< moves real bytes, and checks them
  file::InfoPairs hints;
  file::InfoPairs read_hints;  ///< of the open before the reads

  [[nodiscard]] int ranks() const { return rank_count > 0 ? rank_count : nodes * ranks_per_node; }
  /// The first nodes have one more than the others if the ranks are no multiple of the nodes.
  [[nodiscard]] int ranks_of(int node) const {
    return ranks() / nodes + (node < ranks() % nodes ? 1 : 0);
  }
  [[nodiscard]] sim::RankCalls calls_of(int rank) const;
  /// The size that the file has before the program reads it, apart from what the program wrote; 0:
  /// none.
  [[nodiscard]] std::int64_t bytes_to_read() const;
};

/// The text of --help.
extern const char* const usage;

/// The error message names the wrong option.
[[nodiscard]] Result<Options> parse_options(int argc, char** argv);

}  // namespace nacre::simulate
