#pragma once

#include "workload.h"

namespace nacre::bench {

/// NAS BT-IO (NPB 3, full_mpiio): a cube of cells of five doubles, diagonally multi-partitioned: of
/// q^2 ranks each has q blocks, no two of them in one plane of blocks. In memory every block has
/// two ghost cells on each side. One collective call.
[[nodiscard]] Access bt(const Geometry& geometry);

}  // namespace nacre::bench
