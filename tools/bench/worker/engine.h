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

/// One pass over a file, from open to close, in its three phases. Every member is collective over
/// MPI_COMM_WORLD; what fails ends the job.
class FilePass {
 public:
  virtual ~FilePass() = default;
  /// Opens and, for a write, makes the file.
  virtual void open(const std::string& path, Direction direction) = 0;
  /// Moves all bytes of the access between `buffer` and the file, views included.
  virtual void transfer(const Access& access, std::span<std::byte> buffer, Direction direction) = 0;
  virtual void close(bool sync) = 0;
};

/// `workload` and `geometry` are for those that are written by hand, which `workload` then must
/// have. Collective.
[[nodiscard]] std::unique_ptr<FilePass> make_file_pass(const Options& options,
                                                       const Workload& workload,
                                                       const Geometry& geometry);

/// The info that MPI-IO says is in use for a file that exists. Collective.
[[nodiscard]] JsonObject info_in_use(const Options& options);

/// What one rank saw of one pass. Seconds; bytes.
struct Measurement {
  double open_s = 0;
  double data_s = 0;
  double close_s = 0;
  /// From the barrier before the open to that after the close.
  double total_s = 0;
  /// From the open to the close, without the barriers.
  double cpu_s = 0;
  /// Without code, which is loaded at the first call in one library and from the start in another.
  std::int64_t peak_memory = 0;
  /// Of the peak, the part that belongs to other processes of the node (see
  /// shared_memory_of_others).
  std::int64_t others_memory = 0;
};

struct PassJob {
  const Options& options;
  const Access& access;
  std::span<std::byte> buffer;
  Direction direction = Direction::write;
  /// Looks, between the data and the close, whose the shared memory is; takes too long for a repeat
  /// that counts.
  bool inspect_memory = false;
};

/// Runs and measures one pass on this rank. Collective.
[[nodiscard]] Measurement run_pass(FilePass& pass, const PassJob& job);

/// The measurements of all ranks as one: longest times, sum of CPU seconds, mean and greatest
/// memory above `baseline_bytes` (a figure of this rank). Collective.
[[nodiscard]] JsonObject summarise(const Measurement& measurement, std::int64_t baseline_bytes);

}  // namespace nacre::bench
