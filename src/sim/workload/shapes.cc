#include "sim/workload/shapes.h"

#include <span>

namespace nacre::workload {

namespace {

/// The factors of `count`, each at most `limit`, of which the largest is as small as possible, and
/// so on. Returns whether there are such.
bool factorise(int count, int limit, std::span<int> factors) {
  if (factors.empty()) return count == 1;
  for (int first = 1; first <= std::min(count, limit); ++first) {
    if (count % first != 0) continue;
    factors.front() = first;
    if (factorise(count / first, first, factors.subspan(1))) return true;
  }
  return false;
}

}  // namespace

template <std::size_t N>
std::array<int, N> balanced_factors(int count) {
  std::array<int, N> factors{};
  factorise(count, count, factors);
  return factors;
}
template std::array<int, 2> balanced_factors(int count);
template std::array<int, 3> balanced_factors(int count);
template std::array<int, 4> balanced_factors(int count);

Block<3> cube_block(const Geometry& geometry, double bytes, std::int64_t element) {
  const auto parts = balanced_factors<3>(geometry.ranks);
  Block<3> block;
  block.element = element;
  const double edge = std::cbrt(bytes / static_cast<double>(element));
  int left = geometry.rank;
  for (std::size_t d = 3; d-- > 0;) {
    block.array[d] = std::max(parts[d], static_cast<int>(std::lround(edge)));
    block.deal(d, left % parts[d], parts[d]);
    left /= parts[d];
  }
  return block;
}

}  // namespace nacre::workload
