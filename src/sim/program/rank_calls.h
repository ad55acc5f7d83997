// RankCalls: the data-access calls of one rank of a simulated program.
#ifndef NACRE_SIM_PROGRAM_RANK_CALLS_H_
#define NACRE_SIM_PROGRAM_RANK_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/types/run_cursor.h"
#include "plan/types/type_map.h"

namespace nacre::sim {

/// A view, and the calls through it.
struct CallSeries {
  plan::TiledMap view;
  struct Call {
    std::int64_t offset_bytes = 0;  ///< in the view
    std::int64_t bytes = 0;
    std::int64_t buffer_offset = 0;
  };
  std::vector<Call> calls;
  /// Every rank then makes the same number of calls.
  bool is_collective = true;
  plan::TypeMap memory = plan::TypeMap::bytes(1);  ///< copies of it make up the memory of a call

  /// The length of a buffer that holds the memory of all calls.
  [[nodiscard]] std::int64_t buffer_bytes() const {
    std::int64_t end = 0;
    for (const Call& call : calls) {
      if (call.bytes == 0) continue;
      const std::int64_t copies = (call.bytes + memory.size() - 1) / memory.size();
      const std::int64_t last = (copies - 1) * memory.extent();
      end = std::max(end, call.buffer_offset + last + memory.true_lb() + memory.true_extent());
    }
    return end;
  }
};

/// The writes of a rank, and the reads after them. Every rank has as many series in the same order,
/// because setting a view is collective.
struct RankCalls {
  std::vector<CallSeries> writes;
  std::vector<CallSeries> reads;

  /// The length of a buffer for all calls.
  [[nodiscard]] std::int64_t buffer_bytes() const {
    std::int64_t most = 0;
    for (const auto* const all : {&writes, &reads}) {
      for (const CallSeries& series : *all) most = std::max(most, series.buffer_bytes());
    }
    return most;
  }
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_PROGRAM_RANK_CALLS_H_
