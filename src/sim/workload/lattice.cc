#include "sim/workload/lattice.h"

#include <algorithm>
#include <cmath>

namespace nacre::workload {
namespace {

constexpr int row_sites = 8;

}  // namespace

Lattice::Lattice(const Geometry& geometry) {
  // The largest factor comes first; it is for x, the last dimension.
  parts = balanced_factors<dimensions>(geometry.ranks);
  std::reverse(parts.begin(), parts.end());
  block.element = site_bytes;
  block.array[3] = row_sites * parts[3];
  const std::int64_t rows = geometry.bytes / (site_bytes * block.array[3]);
  const auto edge = static_cast<int>(std::lround(std::cbrt(static_cast<double>(rows))));
  block.array[2] = std::max(parts[2], edge);
  block.array[1] = std::max(parts[1], edge);
  const std::int64_t plane_rows = std::int64_t{block.array[1]} * block.array[2];
  block.array[0] = std::max(parts[0], static_cast<int>(rows / plane_rows));
  int left = geometry.rank;
  for (std::size_t d = dimensions; d-- > 0;) {
    coordinates[d] = left % parts[d];
    left /= parts[d];
    block.deal(d, coordinates[d], parts[d]);
  }
}

Access block4d(const Geometry& geometry) {
  return access_blocks(Lattice(geometry).block, Datatype::bytes(Lattice::site_bytes),
                       in_fortran_order);
}

}  // namespace nacre::workload
