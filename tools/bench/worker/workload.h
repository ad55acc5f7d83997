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

/// What a workload is made for. `bytes` is the wish for the whole file; a workload takes the
/// nearest size that its shape allows, at least one piece a rank.
struct Geometry {
  int rank = 0;
  int ranks = 1;
  std::int64_t bytes = 0;
  /// Of the workloads whose blocks are of a size to be chosen; 0: their own.
  std::int64_t block_bytes = 0;
};

/// Bytes of a rank's buffer that are contiguous in the buffer and in the file.
struct Run {
  std::int64_t file_offset = 0;
  std::size_t buffer_offset = 0;
  std::size_t length = 0;
};
using RunVisitor = std::function<void(const Run&)>;

/// One data-access call at an explicit offset, which counts etypes of the view.
struct Transfer {
  MPI_Offset offset = 0;
  std::size_t buffer_offset = 0;
  int count = 0;
};

/// A view, and the calls made through it, all with one memory type.
struct Step {
  /// Collective calls, of which every rank makes as many; else independent ones.
  bool collective = true;
  MPI_Offset displacement = 0;
  Datatype etype = Datatype::predefined(MPI_BYTE);
  Datatype filetype = Datatype::predefined(MPI_BYTE);
  Datatype memory = Datatype::predefined(MPI_BYTE);
  std::vector<Transfer> transfers;
};

/// All that one rank does with the file, the same for writing and for reading back.
struct Access {
  /// As many on every rank, since setting a view is collective.
  std::vector<Step> steps;
  std::size_t buffer_bytes = 0;
  /// The size of the file, which all ranks together fill without a hole.
  std::int64_t file_bytes = 0;
  /// Visits every run of this rank. Says in its own words, without datatypes, what the steps move:
  /// it is what buffers are filled from and checked against.
  std::function<void(const RunVisitor&)> runs;
};

/// At which numbers of ranks a workload can be run.
enum class RankCount { any, square };

/// To add a workload, write its make() and put a line into the table in workload.cc.
struct Workload {
  std::string_view name;
  std::string_view summary;
  Access (*make)(const Geometry&);
  RankCount rank_count = RankCount::any;
  /// The same file written and read without MPI-IO, as a good user would; nullptr where nobody has
  /// written that. Collective.
  std::unique_ptr<FilePass> (*hand)(const Geometry&) = nullptr;

  [[nodiscard]] bool runs_at(int ranks) const;
};

[[nodiscard]] std::span<const Workload> all_workloads();

/// nullptr where there is none of that name.
[[nodiscard]] const Workload* find_workload(std::string_view name);

/// A rank's even share of a file as one run, without calls: what the plain-I/O limits move.
[[nodiscard]] Access contiguous_share(const Geometry& geometry);

}  // namespace nacre::bench
