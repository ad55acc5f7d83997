// Workload: the accesses of a program, by name and size, as in nacre-bench.
#ifndef NACRE_SIM_WORKLOAD_WORKLOAD_H_
#define NACRE_SIM_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/program/rank_calls.h"

namespace nacre::sim {

/// What the accesses of a rank depend on.
struct Geometry {
  int rank = 0;
  int rank_count = 1;
  /// The wanted size of the file. A workload takes the nearest size that its shape allows, at least
  /// one piece per rank.
  std::int64_t bytes = 0;
  std::int64_t block_bytes = 0;  ///< of workloads with blocks; 0: their default
};

struct Workload {
  std::string_view name;
  std::string_view summary;
  CallSeries (*make)(const Geometry& geometry);
};

/// The names and shapes of nacre-bench (tools/bench/worker/workload.cc). The ranks together fill
/// the file without a hole.
[[nodiscard]] std::span<const Workload> all_workloads();
/// Null if there is none of that name.
[[nodiscard]] const Workload* find_workload(std::string_view name);

}  // namespace nacre::sim

#endif  // NACRE_SIM_WORKLOAD_WORKLOAD_H_
