#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mpi_support.h"

namespace nacre::bench {

class FilePass;

/// The parameters of a workload. `bytes` is the wanted size of the file; a workload takes the
/// nearest size that its shape allows, at least one piece per rank.
struct Geometry {
  int rank = 0;
  int ranks = 1;
  std::int64_t bytes = 0;
  /// Block size, for the workloads whose block size can be chosen; 0: their default.
  std::int64_t block_bytes = 0;
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
  MPI_Offset offset = 0;
  std::size_t buffer_offset = 0;
  int count = 0;
};

/// A view, and the calls through it, which all use the same memory type.
struct Step {
  /// Whether the calls are collective. Every rank then makes the same number of calls.
  bool collective = true;
  MPI_Offset displacement = 0;
  Datatype etype = Datatype::predefined(MPI_BYTE);
  Datatype filetype = Datatype::predefined(MPI_BYTE);
  Datatype memory = Datatype::predefined(MPI_BYTE);
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

/// The numbers of ranks at which a workload can run.
enum class RankCount { any, square };

/// To add a workload, write its make() and add a line to the table in workload.cc.
struct Workload {
  std::string_view name;
  std::string_view summary;
  Access (*make)(const Geometry&);
  RankCount rank_count = RankCount::any;
  /// The hand-written program that writes and reads the same file without MPI-IO; nullptr if there
  /// is none. Collective.
  std::unique_ptr<FilePass> (*hand)(const Geometry&) = nullptr;

  [[nodiscard]] bool runs_at(int ranks) const;
};

[[nodiscard]] std::span<const Workload> all_workloads();

/// nullptr if there is no workload of that name.
[[nodiscard]] const Workload* find_workload(std::string_view name);

/// An even share of the file as one run, without steps. The limits `plain` and `copy_only` use it.
[[nodiscard]] Access contiguous_share(const Geometry& geometry);

}  // namespace nacre::bench
