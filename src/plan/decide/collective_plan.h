// How a collective access is carried out: decided on one rank from a reduced summary, broadcast as
// a value, run by the engine and shown by explain.
#ifndef NACRE_PLAN_DECIDE_COLLECTIVE_PLAN_H_
#define NACRE_PLAN_DECIDE_COLLECTIVE_PLAN_H_

#include <cstdint>
#include <memory>

#include "base/extent.h"
#include "plan/direction.h"
#include "plan/domains/file_domains.h"
#include "plan/nodes/aggregators.h"
#include "plan/nodes/grouping.h"
#include "plan/nodes/node_map.h"
#include "plan/nodes/rank_groups.h"
#include "plan/types/memory_access.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

enum class Algorithm : std::uint8_t {
  automatic,
  direct,                ///< each rank accesses the file by itself
  two_phase,             ///< aggregators have domains of the file, and serve all ranks
  dynamic_segmentation,  ///< aggregators have groups of ranks, whose bytes they bring into order
  static_segmentation,   ///< likewise, a fixed number of bytes from each a round, in its own order
};
/// Whether bytes pass through aggregators.
[[nodiscard]] constexpr bool is_exchange(Algorithm algorithm) {
  return algorithm > Algorithm::direct;
}
/// Whether aggregators have groups of ranks.
[[nodiscard]] constexpr bool is_segmentation(Algorithm algorithm) {
  return algorithm > Algorithm::two_phase;
}

/// How the file is dealt to the aggregators of a two-phase access.
enum class DomainPattern : std::uint8_t {
  automatic,  ///< `slots` where the file has several of them, else `even`
  even,       ///< one range each
  stripes,    ///< blocks of whole stripes, in turn
  slots,      ///< the stripes of some slots each
};

/// What locks aggregators write under, of a file whose nodes lock its objects (Lustre).
enum class WriteLocks : std::uint8_t {
  usual,   ///< each node's own, as wide as the file system grants them
  narrow,  ///< as far as each write goes
  group,   ///< one that all aggregators hold
};

/// From hints, the same on all ranks. Counts and sizes that are 0 are chosen, but for
/// saturation_bytes.
struct CollectiveSettings {
  Algorithm algorithm = Algorithm::automatic;  ///< nacre_algorithm
  std::int32_t aggregator_count = 0;           ///< cb_nodes
  std::int64_t cycle_bytes = 0;         ///< cb_buffer_size: bytes an aggregator moves a round
  std::int64_t alignment_bytes = 4096;  ///< domains begin at multiples of this; >= 1
  bool one_writer_a_node = false;       ///< store::FileSystemFacts
  std::int64_t saturation_bytes = 0;    ///< nacre_saturation_bytes, else the file system's
  std::int32_t cycle_buffer_count = 0;  ///< nacre_cycle_buffers
  /// nacre_groups, else a cartesian communicator; null: as accesses lie.
  std::shared_ptr<const InitialGroups> initial_groups = nullptr;
  DomainPattern pattern = DomainPattern::automatic;  ///< nacre_pattern
  std::int32_t osts_per_aggregator = 1;              ///< nacre_osts_per_aggregator: at least
  SlotSharing sharing = SlotSharing::turns;          ///< nacre_ost_sharing
  WriteLocks write_locks = WriteLocks::usual;        ///< nacre_write_locks
  /// Where the file's bytes lie; null: not striped, or nobody says.
  std::shared_ptr<const StripeMap> stripes = nullptr;
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
  shared_objects,    ///< long runs of several nodes on the same objects, which nodes lock
  single_rank,       ///< only one rank has data, or there is only one
  interleaved,       ///< short runs, and the ranks' ranges overlap
  small_pieces,      ///< short runs, each rank in a range of its own
  no_memory,         ///< for the cycle buffers of an exchange, on some rank
  no_size,         ///< a read of a file that tells no size: empty, a device, made up as it is read
  unordered_view,  ///< a view goes back in the file, or over bytes twice: each rank for itself
  locked,          ///< each rank under a lock on its range, as consistency wants it
};

/// What the number of aggregators comes from.
enum class CountReason : std::uint8_t {
  hint,        ///< cb_nodes asked for it
  saturation,  ///< the bytes keep so many busy
  most,        ///< they would keep more busy than pay
  ranks,       ///< likewise, than there are ranks
  blocks,      ///< a domain is a whole block of the file system, or stripe, at least
  slots,       ///< more would have no fewer OSTs each, or not all
  groups,      ///< of ranks, split and joined by what keeps one aggregator busy
};

/// The plan. Trivially copyable, so that it can be broadcast.
struct CollectivePlan {
  Algorithm algorithm = Algorithm::direct;
  PlanReason reason = PlanReason::no_data;
  /// Reads take whole rounds, since most of their bytes are wanted: then no aggregator waits to be
  /// told which.
  bool whole_rounds = false;
  /// The aggregators of a node write one after the other, and place bytes meanwhile.
  bool writers_take_turns = false;
  CountReason count_reason = CountReason::saturation;
  DomainPattern pattern = DomainPattern::even;  ///< not automatic
  WriteLocks write_locks = WriteLocks::usual;
  std::uint8_t cycle_buffer_count = 2;  ///< of an aggregator: so many rounds are under way at once
  std::int32_t aggregator_count = 0;    ///< at most one a rank
  std::int32_t aggregator_sets = 0;     ///< that share no OSTs, of as many each; 0: each is one
  std::int64_t cycle_bytes = 0;
  /// Of the aggregator with most of them. Rounds in which an aggregator finds no data do not take
  /// place unless whole_rounds, so the number says nothing about cost.
  std::int64_t round_count = 0;
  /// Domains: of [origin, end), by `pattern`; in segmentation all of it is each aggregator's, for
  /// its group. In static segmentation it is of the arranged file (segment.h).
  std::int64_t origin = 0;
  std::int64_t end = 0;
  std::int64_t block_bytes = 0;  ///< contiguous bytes of a domain, at most; in the first component

  friend bool operator==(const CollectivePlan&, const CollectivePlan&) = default;
};

/// Who takes part, and in what.
struct Participants {
  Direction direction = Direction::read;
  int rank_count = 1;
  int node_count = 1;
  /// All ranks do nothing else with the file until the call has ended.
  bool may_hold_group_lock = false;
};

/// Whether the rank of `own` moves its bytes by itself whatever the others bring: pieces so long
/// that an exchange costs more than it saves, or nobody to exchange with, or a hint. It need not
/// wait for a decision then.
[[nodiscard]] bool moves_by_itself(const AccessSummary& own, const CollectiveSettings& settings,
                                   const Participants& participants);

/// Pure, and the same for equal arguments. A plan of segmentation is complete when
/// lay_out_groups() has seen the groups.
[[nodiscard]] CollectivePlan decide(const AccessSummary& summary,
                                    const CollectiveSettings& settings,
                                    const Participants& participants);

/// What `access` brings to the grouping of ranks.
[[nodiscard]] RankLoad load_of(const FileAccess& access);
/// What keeps an aggregator busy, in whole units of what two writers should not share.
[[nodiscard]] std::int64_t saturation_of(const CollectiveSettings& settings);
/// How many groups there are to be.
[[nodiscard]] GroupTarget group_target(const CollectiveSettings& settings,
                                       const Participants& participants);
void lay_out_groups(CollectivePlan& plan, const AccessSummary& summary,
                    const CollectiveSettings& settings, const RankGroups& groups);

/// Among how many the blocks are dealt.
[[nodiscard]] constexpr std::int32_t domain_count(const CollectivePlan& plan) {
  return is_segmentation(plan.algorithm) ? 1 : plan.aggregator_count;
}
/// Which of these domains is that of `aggregator`.
[[nodiscard]] constexpr int domain_of(const CollectivePlan& plan, int aggregator) {
  return is_segmentation(plan.algorithm) ? 0 : aggregator;
}

/// Of a plan that is an exchange, with its groups if it has any. `nodes` outlives it.
[[nodiscard]] Aggregators aggregators_of(const CollectivePlan& plan,
                                         std::shared_ptr<const RankGroups> groups,
                                         const NodeMap& nodes);
/// Likewise; decided with these settings.
[[nodiscard]] FileDomains domains_of(const CollectivePlan& plan,
                                     const CollectiveSettings& settings);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_COLLECTIVE_PLAN_H_
