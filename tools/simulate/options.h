// The options of nacre-simulate.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "file/hints/hints.h"
#include "machine/machine.h"
#include "sim/workload/workload.h"

namespace nacre::simulate {

struct Options {
  machine::Machine machine;
  int nodes = 1;
  int ranks_per_node = 1;
  const sim::Workload* workload = nullptr;
  std::int64_t bytes = 0;        ///< of the file
  std::int64_t block_bytes = 0;  ///< of the workload; 0: its default
  bool reads = false;            ///< reads the file after writing it
  file::InfoPairs hints;

  [[nodiscard]] int ranks() const { return nodes * ranks_per_node; }
};

/// The text of --help.
extern const char* const usage;

/// The error message names the wrong option.
[[nodiscard]] Result<Options> parse_options(int argc, char** argv);

}  // namespace nacre::simulate
