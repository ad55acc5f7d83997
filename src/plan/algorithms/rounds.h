// Rounds: the bytes that an aggregator moves at once, and the number of rounds in flight.
#ifndef NACRE_PLAN_ALGORITHMS_ROUNDS_H_
#define NACRE_PLAN_ALGORITHMS_ROUNDS_H_

#include <cstdint>

#include "plan/call/collective_plan.h"
#include "plan/call/collective_settings.h"

namespace nacre::plan {

/// Ranks of a node exchange the number of a round in 32 bits.
inline constexpr std::int64_t round_count_max = std::int64_t{1} << 31;

/// The size of a round before domains limit it: cb_buffer_size, or the threshold of the file
/// system, in whole units of the alignment of `bytes`.
[[nodiscard]] std::int64_t wanted_cycle_bytes(const CollectiveSettings& settings,
                                              const Extent& bytes);

// The following functions complete a plan whose domains and cycle_bytes are set.
/// Shortens rounds that no hint sets, so that each aggregator has several.
void divide_into_rounds(CollectivePlan& plan, const CollectiveSettings& settings);
/// Shortens rounds that no hint sets to a row of stripes (256 KiB to 1 MiB), for reads of ranges.
/// An aggregator waits for each read, so a read asks every OST. Where OSTs answer late, rounds are
/// longer, so that the reads of all aggregators keep the OSTs busy. In rounds longer than needed
/// the OSTs answer one node after the other, and the links of the other nodes are idle (9 ranges of
/// 0.7 MiB on 3 nodes and 4 OSTs, emulated flash Lustre, in virtual time: 0.128 s in one round,
/// 0.112 s in rounds of a row).
void limit_rounds_to_rows(CollectivePlan& plan, const CollectiveSettings& settings);
/// Limits the rounds to the length of a domain, and their number to round_count_max.
void fit_rounds_to_domains(CollectivePlan& plan, const CollectiveSettings& settings);
/// The same, with rounds of whole stripes if a round holds a stripe.
void fit_rounds_to_stripes(CollectivePlan& plan, const CollectiveSettings& settings);
/// Sets the number of cycle buffers of an aggregator.
void set_cycle_buffers(CollectivePlan& plan, const CollectiveSettings& settings);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_ALGORITHMS_ROUNDS_H_
