// The calls of a rank of a workload of nacre-bench, in the form that the engine takes.
#ifndef NACRE_SIM_PROGRAM_WORKLOAD_CALLS_H_
#define NACRE_SIM_PROGRAM_WORKLOAD_CALLS_H_

#include <vector>

#include "plan/types/type_map.h"
#include "sim/program/rank_calls.h"
#include "sim/workload/access.h"

namespace nacre::sim {

/// As the MPI floor decodes the MPI type of the same description.
[[nodiscard]] plan::TypeMap type_map_of(const workload::Datatype& type);

/// A series for each step of `access`.
[[nodiscard]] std::vector<CallSeries> calls_of(const workload::Access& access);

}  // namespace nacre::sim

#endif  // NACRE_SIM_PROGRAM_WORKLOAD_CALLS_H_
