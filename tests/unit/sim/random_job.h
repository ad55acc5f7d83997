// Random nodes and hints of simulated jobs.
#ifndef NACRE_TESTS_UNIT_SIM_RANDOM_JOB_H_
#define NACRE_TESTS_UNIT_SIM_RANDOM_JOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "file/hints/hints.h"
#include "plan/nodes/node_map.h"
#include "random_access.h"

namespace nacre::sim::fixtures {

using collective::fixtures::Random;

/// An element of an array or a vector, which is not empty.
template <class Values>
typename Values::value_type one_of(Random& random, const Values& values) {
  const auto last = std::ssize(values) - 1;
  return values[static_cast<std::size_t>(collective::fixtures::pick(random, 0, last))];
}

/// Up to `node_count_max` nodes. Ranks are on them in blocks, or dealt in turn.
[[nodiscard]] plan::NodeMap random_nodes(Random& random, int rank_count, int node_count_max);

/// Hints that force small rounds and mostly an algorithm. `cycle_bytes_max`: of cb_buffer_size.
[[nodiscard]] file::InfoPairs random_hints(Random& random, int rank_count,
                                           std::int64_t cycle_bytes_max);

}  // namespace nacre::sim::fixtures

#endif  // NACRE_TESTS_UNIT_SIM_RANDOM_JOB_H_
