// A figure of the ranks of a job as JSON, for the programs that simulate jobs.
#ifndef NACRE_TOOLS_COMMON_OF_RANKS_JSON_H_
#define NACRE_TOOLS_COMMON_OF_RANKS_JSON_H_

#include <cstdint>
#include <string>

#include "base/json.h"

namespace nacre {

/// The mean of figure(rank), and the rank with the most. `rank_count` is at least 1.
template <class Figure>
std::string of_ranks_json(int rank_count, const Figure& figure) {
  std::int64_t sum = 0;
  int most = 0;
  for (int rank = 0; rank < rank_count; ++rank) {
    sum += figure(rank);
    if (figure(rank) > figure(most)) most = rank;
  }
  return JsonObject()
      .add("mean", std::to_string(static_cast<double>(sum) / rank_count))
      .add_number("max", figure(most))
      .add_number("rank_of_max", most)
      .text();
}

}  // namespace nacre

#endif  // NACRE_TOOLS_COMMON_OF_RANKS_JSON_H_
