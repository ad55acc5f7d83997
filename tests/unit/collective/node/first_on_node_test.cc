// One rank of each node is chosen: the lowest candidate, or none if there is no candidate.
#include "collective/node/first_on_node.h"

#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {

TEST_CASE("the lowest candidate of each node is chosen") {
  std::mt19937_64 random(7);
  for (const int ranks : {1, 2, 5, 12}) {
    for (const int ranks_per_node : {1, 3, 12}) {
      CAPTURE(ranks);
      CAPTURE(ranks_per_node);
      testing::InProcessNetwork network({.rank_count = ranks,
                                         .seed = random(),
                                         .ranks_per_node = ranks_per_node,
                                         .deals_ranks = random() % 2 == 0});
      std::vector<bool> candidates;
      for (int rank = 0; rank < ranks; ++rank) candidates.push_back(random() % 3 == 0);
      const auto chosen = testing::run_polled<bool>(
          network,
          [&](int rank) {
            return is_first_on_node(network.transport(rank),
                                    candidates[static_cast<std::size_t>(rank)]);
          },
          random());
      REQUIRE(chosen.has_value());
      std::vector<bool> expected(candidates.size());
      for (int node = 0; node < network.nodes().node_count(); ++node) {
        for (const int rank : network.nodes().ranks_on(node)) {
          if (!candidates[static_cast<std::size_t>(rank)]) continue;
          expected[static_cast<std::size_t>(rank)] = true;
          break;
        }
      }
      CHECK(*chosen == expected);
    }
  }
}

}  // namespace nacre::collective
