// CollectiveSettings: what hints, file system and layout set for a collective access. Participants:
// the ranks of the call.
#ifndef NACRE_PLAN_CALL_COLLECTIVE_SETTINGS_H_
#define NACRE_PLAN_CALL_COLLECTIVE_SETTINGS_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/extent.h"
#include "base/rounding.h"
#include "machine/machine.h"
#include "plan/call/algorithm.h"
#include "plan/call/thresholds.h"
#include "plan/direction.h"
#include "plan/domains/file_domains.h"
#include "plan/layout/stripe_map.h"
#include "plan/nodes/grouping.h"

namespace nacre::plan {

/// How two_phase divides the file among aggregators.
enum class DomainPattern : std::uint8_t {
  automatic,  ///< `osts` if the file lies on several OSTs, else `even`
  even,       ///< one contiguous range for each aggregator
  stripes,    ///< blocks of whole stripes, in turn (Dickens & Logan)
  osts,       ///< all stripes of some OSTs for each aggregator
};

/// The locks of aggregators that write to a file system that locks objects for nodes (Lustre).
enum class WriteLocks : std::uint8_t {
  usual,   ///< granted to each node, as wide as the file system makes them
  narrow,  ///< no wider than each write
  group,   ///< all aggregators hold one group lock
  ahead,   ///< narrow, and requested before the first write
};

/// The same on all ranks. decide() chooses counts and sizes that are 0, except saturation_bytes.
struct CollectiveSettings {
  Algorithm algorithm = Algorithm::automatic;  ///< nacre_algorithm
  std::int32_t aggregator_count = 0;           ///< cb_nodes
  std::int64_t cycle_bytes = 0;         ///< cb_buffer_size: bytes of a round of an aggregator
  std::int64_t alignment_bytes = 4096;  ///< domains begin at multiples of this; >= 1
  bool one_writer_per_node = false;     ///< store::FileSystemFacts
  bool keeps_written = false;           ///< store::FileSystemFacts
  std::int64_t saturation_bytes = 0;    ///< nacre_saturation_bytes, else the file system's
  /// A direct read of a run includes the gap before it if they are together at most so long; 0: no.
  std::int64_t sieving_bytes = 0;
  std::int32_t cycle_buffer_count = 0;  ///< nacre_cycle_buffers
  /// nacre_groups, else a cartesian communicator; null: groups follow the accesses.
  std::shared_ptr<const InitialGroups> initial_groups = nullptr;
  DomainPattern pattern = DomainPattern::automatic;  ///< nacre_pattern
  std::int32_t osts_per_aggregator = 1;              ///< nacre_osts_per_aggregator: at least
  OstSharing sharing = OstSharing::turns;            ///< nacre_ost_sharing
  WriteLocks write_locks = WriteLocks::usual;        ///< nacre_write_locks
  /// The stripes of the file; null: the file is not striped, or its layout is unknown.
  std::shared_ptr<const StripeMap> stripes = nullptr;
  /// The figures by which decide() compares plans; null: it follows rules only.
  std::shared_ptr<const machine::Machine> machine = nullptr;

  [[nodiscard]] const Thresholds& thresholds() const {
    return one_writer_per_node ? local_thresholds : remote_thresholds;
  }
  [[nodiscard]] std::int64_t alignment() const {
    return std::max<std::int64_t>(1, alignment_bytes);
  }
  /// The same for a call that accesses `bytes`: their stripes may be shorter than those elsewhere.
  [[nodiscard]] std::int64_t alignment_of(const Extent& bytes) const {
    const StripedRegion* const region = main_region_of(bytes);
    return region == nullptr ? alignment() : std::min(alignment(), region->stripe_size);
  }
  /// Bytes per call that saturate one aggregator, in whole units of alignment().
  [[nodiscard]] std::int64_t saturation() const {
    return round_up(std::max<std::int64_t>(1, saturation_bytes), alignment());
  }
  /// Whether domains can follow the stripes of all of `bytes`.
  [[nodiscard]] bool has_stripes_of(const Extent& bytes) const {
    return stripes != nullptr && stripes->names_osts() &&
           stripes->regions().back().extent.end() >= bytes.end();
  }
  /// The region with most of `bytes`; null if domains cannot follow their stripes. Valid as long as
  /// `stripes`.
  [[nodiscard]] const StripedRegion* main_region_of(const Extent& bytes) const {
    return has_stripes_of(bytes) ? &stripes->main_region(bytes) : nullptr;
  }
};

/// The ranks of the call.
struct Participants {
  Direction direction = Direction::read;
  int rank_count = 1;
  int node_count = 1;
  /// No rank accesses the file otherwise until the call has ended.
  bool may_hold_group_lock = false;

  friend bool operator==(const Participants&, const Participants&) = default;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_COLLECTIVE_SETTINGS_H_
