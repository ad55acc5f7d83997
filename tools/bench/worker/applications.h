#pragma once

#include "workload.h"

namespace nacre::bench {

/// NAS BT-IO (NPB 3, full_mpiio): a cube of cells of five doubles, diagonally multi-partitioned: of
/// q^2 ranks each has q blocks, no two of them in one plane of blocks. In memory every block has
/// two ghost cells on each side. One collective call.
[[nodiscard]] Access bt(const Geometry& geometry);

/// The checkpoint of FLASH-IO: blocks of 16^3 cells with four guard cells on each side and 24
/// variables interleaved in memory; in the file each variable is an array of its own, of which a
/// rank has a contiguous part. A collective call a variable. At most 80 blocks a rank.
[[nodiscard]] Access flash(const Geometry& geometry);
/// The same with blocks of 8^3 cells.
[[nodiscard]] Access flash8(const Geometry& geometry);

/// E3SM-IO: 200,000 pieces a rank (fewer if the size is smaller) of one to eight doubles, each
/// piece of the file of a random rank. One collective call through an indexed view; memory is
/// contiguous.
[[nodiscard]] Access climate(const Geometry& geometry);

/// A checkpointing code: twenty time steps of three arrays of one shape, appended in the order of
/// time. One view for all of it; a collective call for an array of a step.
[[nodiscard]] Access steps(const Geometry& geometry);

/// What netCDF and HDF5 make of many variables: rank 0 writes the header in small independent
/// calls, then all ranks each variable in one collective call through a view of its own, after
/// which rank 0 brings a number in the header up to date.
[[nodiscard]] Access header(const Geometry& geometry);

}  // namespace nacre::bench
