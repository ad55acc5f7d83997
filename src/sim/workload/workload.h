// Workload: the accesses of a program, by name and size. Nacre-bench measures them with MPI, and
// the simulator runs them in virtual time.
#ifndef NACRE_SIM_WORKLOAD_WORKLOAD_H_
#define NACRE_SIM_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/workload/access.h"

namespace nacre::workload {

/// The numbers of ranks at which a workload can run.
enum class RankCount : std::uint8_t { any, square };

/// To add a workload, write its make() and add a line to the table in workload.cc.
struct Workload {
  std::string_view name;
  std::string_view summary;
  Access (*make)(const Geometry&);
  RankCount rank_count = RankCount::any;

  [[nodiscard]] bool runs_at(int ranks) const;
};

[[nodiscard]] std::span<const Workload> all_workloads();

/// nullptr if there is no workload of that name.
[[nodiscard]] const Workload* find_workload(std::string_view name);

/// An even share of the file as one run, without steps. The limits `plain` and `copy_only` use it.
[[nodiscard]] Access contiguous_share(const Geometry& geometry);

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_WORKLOAD_H_
