#pragma once

#include <memory>
#include <string_view>

#include "sim/workload/shapes.h"
#include "sim/workload/workload.h"

namespace nacre::bench {

class FilePass;

// The workloads are those of src/sim/workload, which the simulator runs too.
using workload::Access;
using workload::all_workloads;
using workload::contiguous_share;
using workload::find_workload;
using workload::Geometry;
using workload::Run;
using workload::RunVisitor;
using workload::size;
using workload::Step;
using workload::Transfer;
using workload::Workload;

/// Makes the hand-written program that writes and reads the same file as a workload without MPI-IO.
/// Collective.
using MakeHandPass = std::unique_ptr<FilePass> (*)(const Geometry&);
/// nullptr if there is none for this workload.
[[nodiscard]] MakeHandPass find_hand_pass(const Workload& workload);

}  // namespace nacre::bench
