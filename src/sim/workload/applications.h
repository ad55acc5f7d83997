// Workloads of applications.
#ifndef NACRE_SIM_WORKLOAD_APPLICATIONS_H_
#define NACRE_SIM_WORKLOAD_APPLICATIONS_H_

#include "sim/workload/access.h"

namespace nacre::workload {

/// NAS BT-IO (NPB 3, full_mpiio): a cube of cells of five doubles, diagonally multi-partitioned.
/// Each of q^2 ranks has q blocks, no two of them in one plane of blocks. In memory, every block
/// has two ghost cells on each side. One collective call.
[[nodiscard]] Access bt(const Geometry& geometry);

/// The checkpoint of FLASH-IO: blocks of 16^3 cells with four guard cells on each side and 24
/// variables interleaved in memory. In the file, each variable is one array, and each rank has a
/// contiguous part of it. One collective call per variable. At most 80 blocks per rank.
[[nodiscard]] Access flash(const Geometry& geometry);
/// The same with blocks of 8^3 cells.
[[nodiscard]] Access flash8(const Geometry& geometry);

/// E3SM-IO: 200,000 pieces per rank (fewer if the size is smaller) of one to eight doubles. Each
/// piece of the file is assigned to a random rank. One collective call through an indexed view;
/// memory is contiguous.
[[nodiscard]] Access climate(const Geometry& geometry);

/// A checkpointing code: twenty time steps of three arrays of the same shape, appended step by
/// step. One view for the whole file; one collective call per array and step.
[[nodiscard]] Access steps(const Geometry& geometry);

/// The calls of netCDF and HDF5 for many variables. Rank 0 writes the header with small independent
/// calls. All ranks then write each variable with one collective call through its own view. After
/// each variable, rank 0 updates 4 bytes of the header.
[[nodiscard]] Access header(const Geometry& geometry);

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_APPLICATIONS_H_
