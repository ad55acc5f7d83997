// Access: the calls of one rank of a workload, and the bytes that they move.
#ifndef NACRE_SIM_WORKLOAD_ACCESS_H_
#define NACRE_SIM_WORKLOAD_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/workload/datatype.h"

namespace nacre::workload {

/// The parameters of a workload. `bytes` is the wanted size of the file; a workload takes the
/// nearest size that its shape allows, at least one piece per rank.
struct Geometry {
  int rank = 0;
  int ranks = 1;
  std::int64_t bytes = 0;
  /// Block size, for the workloads whose block size can be chosen; 0: their default.
  std::int64_t block_bytes = 0;
  /// All ranks are made in this process: what they have in common may be kept.
  bool one_process = false;
};

/// Bytes of a rank's buffer that are contiguous in the buffer and in the file.
struct Run {
  std::int64_t file_offset = 0;
  std::size_t buffer_offset = 0;
  std::size_t length = 0;
};
using RunVisitor = std::function<void(const Run&)>;

/// One data-access call. `offset` counts etypes of the view.
struct Transfer {
  std::int64_t offset = 0;
  std::size_t buffer_offset = 0;
  int count = 0;
};

/// A view, and the calls through it, which all use the same memory type.
struct Step {
  /// Whether the calls are collective. Every rank then makes the same number of calls.
  bool collective = true;
  std::int64_t displacement = 0;
  Datatype etype;
  Datatype filetype;
  Datatype memory;
  std::vector<Transfer> transfers;
};

/// All calls of one rank, the same for writing and for reading back.
struct Access {
  /// Every rank has the same number of steps, because setting a view is collective.
  std::vector<Step> steps;
  std::size_t buffer_bytes = 0;
  /// The size of the file. The ranks together fill it without a hole.
  std::int64_t file_bytes = 0;
  /// Visits every run of this rank, computed without datatypes. Buffers are filled from the runs
  /// and checked against them, so an error in the steps is found.
  std::function<void(const RunVisitor&)> runs;
};

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_ACCESS_H_
