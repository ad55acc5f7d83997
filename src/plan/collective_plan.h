// How a collective access is carried out: decided on one rank from a reduced summary, broadcast as
// a value, run by the engine and shown by explain.
#ifndef NACRE_PLAN_COLLECTIVE_PLAN_H_
#define NACRE_PLAN_COLLECTIVE_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/extent.h"
#include "plan/memory_access.h"
#include "plan/run_cursor.h"

namespace nacre::plan {

enum class Algorithm : std::uint8_t { automatic, direct, two_phase };

/// From hints, the same on all ranks. 0 stands for "choose".
struct CollectiveSettings {
  Algorithm algorithm = Algorithm::automatic;  ///< nacre_algorithm
  std::int32_t aggregator_count = 0;           ///< cb_nodes
  std::int64_t cycle_bytes = 0;         ///< cb_buffer_size: bytes an aggregator moves a round
  std::int64_t alignment_bytes = 4096;  ///< domains begin at multiples of this; >= 1
  bool one_writer_a_node = false;       ///< store::FileSystemFacts
};

/// What a rank brings to the decision; summaries fold into one of all ranks, in any order. The
/// default one is that of a rank without data, and changes nothing when folded.
struct AccessSummary {
  Extent bounds;               ///< first byte touched to last, all ranks
  std::int64_t bytes = 0;      ///< data bytes, all ranks
  std::int64_t run_count = 0;  ///< runs in the file, all ranks; an estimate where an access begins
                               ///< or ends inside a copy of its type
  std::int64_t memory_run_count = 0;  ///< the same in memory
  std::int64_t span_bytes = 0;  ///< sum of the ranks' bounds: > bounds.length where they interleave
  std::int64_t bytes_max = 0;   ///< most data bytes of one rank
  std::int32_t rank_count = 0;  ///< ranks with data
  bool monotone = true;         ///< every rank's view is TypeMap::tiles_monotone()
};
[[nodiscard]] AccessSummary summarize(const FileAccess& access, const MemoryAccess& memory);
/// How many runs of the file an access is in, about.
[[nodiscard]] std::int64_t estimate_run_count(const FileAccess& access);
/// Sums stop at the largest 64-bit number.
void fold(AccessSummary& into, const AccessSummary& from);

/// Which rule decided.
enum class PlanReason : std::uint8_t {
  hint,              ///< an algorithm was asked for
  no_data,           ///< nobody has anything to move
  large_pieces,      ///< runs so long that an exchange costs more than it saves
  scattered_memory,  ///< long runs in the file but not in memory, and all on one node: the copy
                     ///< that this takes may as well be the one into a cycle buffer
  single_rank,       ///< only one rank has data, or there is only one
  interleaved,       ///< short runs, and the ranks' ranges overlap
  small_pieces,      ///< short runs, each rank in a range of its own
  no_size,         ///< a read of a file that tells no size: empty, a device, made up as it is read
  unordered_view,  ///< a view goes back in the file, or over bytes twice: each rank for itself
  locked,          ///< each rank under a lock on its range, as consistency wants it
};

/// The plan. Trivially copyable, so that it can be broadcast.
struct CollectivePlan {
  using Reason = PlanReason;
  Algorithm algorithm = Algorithm::direct;
  Reason reason = Reason::no_data;
  /// two_phase: aggregator a is rank aggregator_rank(plan, a, ranks). At most one a rank.
  std::int32_t aggregator_count = 0;
  std::int64_t cycle_bytes = 0;
  /// Of the aggregator with the largest domain. Rounds in which an aggregator finds no data do not
  /// take place, so the number says nothing about cost.
  std::int64_t round_count = 0;
  /// Domains: blocks of block_bytes from origin on are dealt to the aggregators in turn, up to end.
  std::int64_t origin = 0;
  std::int64_t end = 0;
  std::int64_t block_bytes = 0;
  /// Reads take whole rounds, since most of their bytes are wanted: then no aggregator waits to be
  /// told which.
  bool whole_rounds = false;
  /// The aggregators of a node write one after the other, and place bytes meanwhile.
  bool writers_take_turns = false;

  friend bool operator==(const CollectivePlan&, const CollectivePlan&) = default;
};

/// Who takes part, and in what.
struct Participants {
  Direction direction = Direction::read;
  int rank_count = 1;
  int node_count = 1;
};

/// Whether the rank of `own` moves its bytes by itself whatever the others bring: pieces so long
/// that an exchange costs more than it saves, or nobody to exchange with, or a hint. It need not
/// wait for a decision then.
[[nodiscard]] bool moves_by_itself(const AccessSummary& own, const CollectiveSettings& settings,
                                   const Participants& participants);

/// Pure, and the same for equal arguments.
[[nodiscard]] CollectivePlan decide(const AccessSummary& summary,
                                    const CollectiveSettings& settings,
                                    const Participants& participants);

/// Aggregators are spread evenly over the ranks; aggregator 0 is rank 0.
[[nodiscard]] int aggregator_rank(const CollectivePlan& plan, int aggregator, int rank_count);
/// Which aggregator `rank` is, if it is one.
[[nodiscard]] std::optional<int> aggregator_of_rank(const CollectivePlan& plan, int rank,
                                                    int rank_count);

/// Where a byte of the file is handled, and the part of its round that is contiguous with it. A
/// round's parts lie one after the other in the cycle buffer, `extent` at `buffer_offset`.
struct RoundPlace {
  int aggregator = 0;
  std::int64_t round = 0;
  Extent extent;
  std::int64_t buffer_offset = 0;
};
/// `offset` in [plan.origin, plan.end), plan two_phase.
[[nodiscard]] RoundPlace place_of(const CollectivePlan& plan, std::int64_t offset);

/// The most bytes that a round holds: what a cycle buffer must have.
[[nodiscard]] std::int64_t round_bytes_max(const CollectivePlan& plan);

/// The extents of the file that `aggregator` handles in `round`, in order; together at most
/// cycle_bytes. O(extents returned); none beyond the last round.
void round_extents(const CollectivePlan& plan, int aggregator, std::int64_t round,
                   std::vector<Extent>& extents);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_COLLECTIVE_PLAN_H_
