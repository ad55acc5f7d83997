#include "random_job.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "plan/algorithms/algorithm_table.h"

namespace nacre::sim::fixtures {

using collective::fixtures::pick;

plan::NodeMap random_nodes(Random& random, int rank_count, int node_count_max) {
  const std::int64_t node_count = pick(random, 1, std::min(node_count_max, rank_count));
  const bool deals_ranks = pick(random, 0, 2) == 0;
  const std::int64_t per_node = (rank_count + node_count - 1) / node_count;
  std::vector<plan::NodeMap::Run> runs;
  for (int rank = 0; rank < rank_count; ++rank) {
    const std::int64_t node = deals_ranks ? rank % node_count : rank / per_node;
    const plan::NodeMap::Run run{static_cast<std::uint64_t>(node + 1), 1};
    plan::append_runs(runs, {&run, 1});
  }
  return plan::NodeMap::from_runs(runs);
}

file::InfoPairs random_hints(Random& random, int rank_count, std::int64_t cycle_bytes_max) {
  const std::span rows = plan::algorithm_table();
  const auto row = static_cast<std::size_t>(pick(random, 0, std::ssize(rows) - 1));
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::to_string(pick(random, low, high));
  };
  file::InfoPairs hints{{"nacre_machine", pick(random, 0, 1) == 0 ? "none" : "lustre"},
                        {"cb_nodes", number(1, rank_count + 2)},
                        {"cb_buffer_size", number(1, cycle_bytes_max)},
                        {"nacre_io_threads", number(0, 3)},
                        {"nacre_cycle_buffers", number(2, 4)}};
  if (pick(random, 0, 4) > 0) hints.emplace_back("nacre_algorithm", std::string(rows[row]->name));
  if (pick(random, 0, 1) == 0) hints.emplace_back("striping_factor", number(1, 3));
  return hints;
}

}  // namespace nacre::sim::fixtures
