#pragma once

#include <array>
#include <memory>

#include "engine.h"
#include "shapes.h"

namespace nacre::bench {

/// A four-dimensional lattice of sites, x fastest, dealt to the ranks in blocks whose rows are
/// eight sites (1.5 KiB) long (pmodels/mpich#7935). Dimensions are in the order t, z, y, x.
struct Lattice {
  static constexpr std::size_t dimensions = 4;
  static constexpr std::int64_t site_bytes = 192;

  explicit Lattice(const Geometry& geometry);

  Block<dimensions> block;
  std::array<int, dimensions> parts{};
  std::array<int, dimensions> coordinates{};
};

[[nodiscard]] Access block4d(const Geometry& geometry);

/// What a good user would write for block4d: ranks that together hold extents of at least 4 MiB of
/// the file (or as large as there are) exchange their rows by one Alltoallv, each puts its share of
/// the extents into order and writes it. Reads the reverse way.
[[nodiscard]] std::unique_ptr<FilePass> hand_block4d(const Geometry& geometry);

}  // namespace nacre::bench
