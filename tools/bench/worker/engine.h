#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "json.h"
#include "options.h"
#include "workload.h"

namespace nacre::bench {

enum class Direction { write, read };

/// One pass over a file, in three phases: open, transfer, close. Every member is collective over
/// MPI_COMM_WORLD. A failure aborts the job.
class FilePass {
 public:
  virtual ~FilePass() = default;
  /// Opens the file; creates it for a write.
  virtual void open(const std::string& path, Direction direction) = 0;
  /// Moves all bytes of the access between `buffer` and the file. Sets the views too.
  virtual void transfer(const Access& access, std::span<std::byte> buffer, Direction direction) = 0;
  virtual void close(bool sync) = 0;
};

/// What a pass is for.
struct PassPurpose {
  const Workload& workload;
  const Geometry& geometry;
  const Access& access;  ///< of transfer(); outlives the pass
};
/// The pass for `options.engine`. For Engine::hand the workload must have a hand-written version.
/// Collective.
[[nodiscard]] std::unique_ptr<FilePass> make_file_pass(const Options& options,
                                                       const PassPurpose& purpose);

/// The hints that MPI_File_get_info returns for the existing file. Collective.
[[nodiscard]] JsonObject info_in_use(const Options& options);

/// Times (seconds) and memory (bytes) of one pass on one rank.
struct Measurement {
  double open_s = 0;
  double data_s = 0;
  double close_s = 0;
  /// From the barrier before the open to the barrier after the close, without the inspection of
  /// memory.
  double total_s = 0;
  /// CPU time from the open to the close, without the barriers.
  double cpu_s = 0;
  /// Peak of the resident memory without pages of files, which are code: some libraries load it at
  /// the first call, some at the start.
  std::int64_t peak_memory = 0;
  /// The part of the peak that is the share of other processes of the node: see
  /// shared_memory_of_others().
  std::int64_t others_memory = 0;
};

struct PassJob {
  const Options& options;
  const Access& access;
  std::span<std::byte> buffer;
  Direction direction = Direction::write;
  /// Calls shared_memory_of_others() between the transfer and the close. Too slow for every
  /// repeat.
  bool inspect_memory = false;
};

/// Runs and measures one pass on this rank. Collective.
[[nodiscard]] Measurement run_pass(FilePass& pass, const PassJob& job);

/// Combines the measurements of all ranks: the longest times, the sum of the CPU times, the mean
/// and the maximum of the memory above `baseline_bytes` (of this rank). Collective.
[[nodiscard]] JsonObject summarise(const Measurement& measurement, std::int64_t baseline_bytes);

}  // namespace nacre::bench
