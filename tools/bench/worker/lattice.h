#pragma once

#include <array>
#include <memory>

#include "engine.h"
#include "shapes.h"

namespace nacre::bench {

/// A four-dimensional lattice of sites, divided into one block per rank. The rows of a block are
/// eight sites (1.5 KiB) long (pmodels/mpich#7935). Dimensions are in the order t, z, y, x; x is
/// the fastest.
struct Lattice {
  static constexpr std::size_t dimensions = 4;
  static constexpr std::int64_t site_bytes = 192;

  explicit Lattice(const Geometry& geometry);

  Block<dimensions> block;
  std::array<int, dimensions> parts{};
  std::array<int, dimensions> coordinates{};
};

[[nodiscard]] Access block4d(const Geometry& geometry);

/// The program that a good user would write for block4d. The ranks that together hold extents of at
/// least 4 MiB of the file (all ranks, if there are none so long) exchange their rows with one
/// MPI_Alltoallv. Each rank then sorts an even share of the extents and writes it. Reading is the
/// reverse.
[[nodiscard]] std::unique_ptr<FilePass> hand_block4d(const Geometry& geometry);

}  // namespace nacre::bench
