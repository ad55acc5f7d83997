// Lattice: the array of the workload block4d.
#ifndef NACRE_SIM_WORKLOAD_LATTICE_H_
#define NACRE_SIM_WORKLOAD_LATTICE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/workload/shapes.h"

namespace nacre::workload {

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

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_LATTICE_H_
