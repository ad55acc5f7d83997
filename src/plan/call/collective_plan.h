// CollectivePlan: how a collective access is executed. Rank 0 decides it from a reduced summary and
// broadcasts it; the engine executes it and `nacre explain` prints it.
#ifndef NACRE_PLAN_CALL_COLLECTIVE_PLAN_H_
#define NACRE_PLAN_CALL_COLLECTIVE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "plan/call/algorithm.h"
#include "plan/call/collective_settings.h"

namespace nacre::plan {

/// The rule that chose the algorithm. Its sentences are in decide/plan_words.cc.
enum class PlanReason : std::uint8_t {
  hint,            ///< a hint sets the algorithm
  no_data,         ///< no rank has data
  large_pieces,    ///< runs so long that an exchange costs more than it saves
  shared_objects,  ///< long runs of several nodes on the same objects, which nodes lock
  single_rank,     ///< only one rank has data, or there is only one
  interleaved,     ///< short runs, and the ranks' ranges overlap
  small_pieces,    ///< short runs, each rank in a range of its own
  no_memory,       ///< some rank cannot allocate cycle buffers
  no_size,         ///< a read of a file without a size: empty, a device, generated
  unordered_view,  ///< a view goes backwards in the file or visits bytes twice
  locked,          ///< each rank locks its range, for atomic mode or consistency
  cost,            ///< the shortest predicted time
  observed,        ///< the shortest predicted time, corrected by that of earlier calls
  cached,          ///< its aggregators have written the bytes, which their nodes still cache
};

/// The rule that set the number of aggregators.
enum class CountReason : std::uint8_t {
  hint,        ///< cb_nodes
  saturation,  ///< the bytes saturate this many
  most,        ///< the bytes would saturate more than is useful
  ranks,       ///< the bytes would saturate more than there are ranks
  blocks,      ///< each domain has at least one block of the file system or stripe
  osts,        ///< more would not divide the OSTs more evenly
  groups,      ///< one for each group of ranks
  cost,        ///< the shortest predicted time
};

/// Trivially copyable, so that it can be broadcast.
struct CollectivePlan {
  Algorithm algorithm = Algorithm::direct;
  PlanReason reason = PlanReason::no_data;
  /// Reads fetch whole rounds without waiting for requests, because most of their bytes are wanted.
  bool whole_rounds = false;
  /// The aggregators of a node write in turn; the others fill their buffers meanwhile.
  bool writers_take_turns = false;
  CountReason count_reason = CountReason::saturation;
  DomainPattern pattern = DomainPattern::even;  ///< not automatic
  WriteLocks write_locks = WriteLocks::usual;
  std::uint8_t cycle_buffer_count = 2;  ///< of an aggregator: rounds in flight at once
  std::int32_t aggregator_count = 0;    ///< at most one per rank
  /// This many sets of aggregators of equal size share no OST; 0: each aggregator is a set.
  std::int32_t aggregator_sets = 0;
  std::int64_t cycle_bytes = 0;
  /// Of the aggregator with the most rounds. Unless whole_rounds, a round without data does not
  /// take place, so this number is no measure of cost.
  std::int64_t round_count = 0;
  /// Domains divide [origin, end) of the file or, if RoundOrder is `rank`, of the arranged file
  /// (algorithms/segment.h).
  std::int64_t origin = 0;
  std::int64_t end = 0;
  std::int64_t first_byte = 0;   ///< of all accesses; from `origin` up to here nothing is accessed
  std::int64_t block_bytes = 0;  ///< most contiguous bytes of a domain in the first component

  friend bool operator==(const CollectivePlan&, const CollectivePlan&) = default;
};

/// Whether the plans differ at most in their place in the file: origin, end and first_byte.
[[nodiscard]] inline bool are_equal_elsewhere(const CollectivePlan& a, const CollectivePlan& b) {
  static_assert(std::has_unique_object_representations_v<CollectivePlan>);
  constexpr std::size_t before_place = offsetof(CollectivePlan, origin);
  constexpr std::size_t behind_place = before_place + 3 * sizeof(std::int64_t);
  static_assert(offsetof(CollectivePlan, block_bytes) == behind_place);
  static_assert(sizeof a == behind_place + sizeof a.block_bytes);
  return std::memcmp(&a, &b, before_place) == 0 && a.block_bytes == b.block_bytes;
}

/// The number of aggregators that the predicted time decided; 0: a rule or a hint did.
[[nodiscard]] inline std::int64_t chosen_count(const CollectivePlan& plan) {
  return plan.count_reason == CountReason::cost ? plan.aggregator_count : 0;
}

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_COLLECTIVE_PLAN_H_
