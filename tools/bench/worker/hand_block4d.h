#pragma once

#include <memory>

#include "engine.h"

namespace nacre::bench {

/// The program that a good user would write for block4d. The ranks that together hold extents of at
/// least 4 MiB of the file (all ranks, if there are none so long) exchange their rows with one
/// MPI_Alltoallv. Each rank then sorts an even share of the extents and writes it. Reading is the
/// reverse.
[[nodiscard]] std::unique_ptr<FilePass> hand_block4d(const Geometry& geometry);

}  // namespace nacre::bench
