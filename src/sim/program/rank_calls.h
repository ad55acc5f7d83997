// RankCalls: the data-access calls of one rank of a simulated program.
#ifndef NACRE_SIM_PROGRAM_RANK_CALLS_H_
#define NACRE_SIM_PROGRAM_RANK_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/types/run_cursor.h"

namespace nacre::sim {

/// A view, and the calls through it.
struct CallSeries {
  plan::TiledMap view;
  struct Call {
    std::int64_t offset_bytes = 0;  ///< in the view
    std::int64_t bytes = 0;
  };
  std::vector<Call> calls;
  /// Every rank then makes the same number of calls.
  bool is_collective = true;
};

/// The writes of a rank, and the reads after them. Every rank has as many series in the same order,
/// because setting a view is collective.
struct RankCalls {
  std::vector<CallSeries> writes;
  std::vector<CallSeries> reads;

  [[nodiscard]] std::int64_t most_bytes() const {
    std::int64_t most = 0;
    for (const auto* const all : {&writes, &reads}) {
      for (const CallSeries& series : *all) {
        for (const CallSeries::Call& call : series.calls) most = std::max(most, call.bytes);
      }
    }
    return most;
  }
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_PROGRAM_RANK_CALLS_H_
