// AccessSummary: the accesses of all ranks in a fixed size. The plan is decided from it.
#ifndef NACRE_PLAN_CALL_ACCESS_SUMMARY_H_
#define NACRE_PLAN_CALL_ACCESS_SUMMARY_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/checked_cast.h"
#include "base/extent.h"
#include "plan/call/stripes_touched.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

/// Sums over the ranks of a collective access. Summaries are folded in any order. The default is
/// the summary of a rank without data; folding it changes nothing.
struct AccessSummary {
  Extent bounds;               ///< first byte touched to last, all ranks
  std::int64_t bytes = 0;      ///< data bytes, all ranks
  std::int64_t run_count = 0;  ///< runs in the file, all ranks; estimated if an access begins or
                               ///< ends inside a copy of its type
  std::int64_t memory_run_count = 0;  ///< the same in memory
  // Estimates for predictions, short because each rank sends a summary with each call.
  float wide_gap_count = 0;           ///< of run_count, those behind a gap that reads do not bridge
  float near_gap_bytes = 0;           ///< of all other gaps between runs of one rank
  std::int64_t span_bytes = 0;        ///< sum of the ranks' bounds; > bounds.length if they overlap
  std::int64_t bytes_max = 0;         ///< most data bytes of one rank
  std::int32_t rank_count = 0;        ///< ranks with data
  std::int32_t other_nodes : 27 = 0;  ///< with data, beside `node`
  bool monotone : 1 = true;           ///< every rank's view is TypeMap::tiles_monotone()
  bool whole_pages : 1 = true;        ///< of all ranks; StripesTouched
  bool lists_runs : 1 = false;        ///< a view lists many runs one by one; strides need no list
  /// Equal calls lead to this one, and rank 0 has not read elsewhere since the last of them. This
  /// and the next are set by rank 0 at last.
  bool in_steps : 1 = false;
  /// The same, but rank 0 has read elsewhere since the last call, so its node does not read ahead.
  bool in_broken_steps : 1 = false;
  SlotSet slots = 0;  ///< touched by all ranks; 0: the layout is unknown
  // By node. Ranks of a node are folded with each other before they are folded with ranks of other
  // nodes.
  std::int32_t node = -1;            ///< of the last three
  std::int32_t slots_of_others = 0;  ///< sum of the numbers of slots that the other nodes touch
  std::int64_t span_of_others = 0;   ///< sum of the bounds of the other nodes
  std::int64_t most_of_others = 0;   ///< most data bytes of one of the other nodes
  Extent node_bounds = {};           ///< first byte touched to last, this node
  std::int64_t node_bytes = 0;       ///< data bytes, this node
  SlotSet node_slots = 0;            ///< touched by this node

  friend bool operator==(const AccessSummary&, const AccessSummary&) = default;
  /// Whether all nodes, or all but that of rank 0, may have read ahead what a call reads.
  [[nodiscard]] bool continues_steps() const { return in_steps || in_broken_steps; }
  [[nodiscard]] bool is_interleaved() const { return span_bytes > bounds.length; }
  /// Estimated bytes of the file that ranks access. Ranks with equal bounds are assumed to access
  /// the same bytes.
  [[nodiscard]] std::int64_t distinct_bytes() const;
  /// Whether ranks access at least half of `bounds`.
  [[nodiscard]] bool is_dense() const { return distinct_bytes() >= bounds.length / 2; }
  /// Sum of the nodes' bounds; > bounds.length if they overlap.
  [[nodiscard]] std::int64_t node_span_bytes() const {
    return saturating_add(span_of_others, node_bounds.length);
  }
  /// Nodes with data.
  [[nodiscard]] std::int32_t node_count() const { return other_nodes + (node_bytes > 0 ? 1 : 0); }
  /// Nodes that access one OST, on average. The accesses touch a known layout.
  [[nodiscard]] double nodes_per_slot() const {
    return static_cast<double>(slots_of_others + std::popcount(node_slots)) / std::popcount(slots);
  }
  /// Most data bytes of one node.
  [[nodiscard]] std::int64_t node_bytes_max() const { return std::max(most_of_others, node_bytes); }
};

/// `node`: the number of the rank's node. `stripes`: null if the layout is unknown.
[[nodiscard]] AccessSummary summarize(const FileAccess& access, const MemoryAccess& memory,
                                      std::int32_t node = 0, const StripeMap* stripes = nullptr);
/// Sums stop at the largest 64-bit number.
void fold(AccessSummary& into, const AccessSummary& from);
/// The estimated number of runs in `byte_count` data bytes of copies of `type`.
[[nodiscard]] std::int64_t estimate_run_count(const TypeMap& type, std::int64_t byte_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_ACCESS_SUMMARY_H_
