// Two-phase: aggregators move the bytes of their file domains for all ranks, a cycle buffer a round
// (Thakur & Choudhary, Scientific Programming 5(4), 1996).
#ifndef NACRE_COLLECTIVE_TWO_PHASE_H_
#define NACRE_COLLECTIVE_TWO_PHASE_H_

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "collective/file_source.h"
#include "collective/task.h"
#include "collective/transport.h"
#include "collective/two_phase_access.h"
#include "plan/collective_plan.h"

namespace nacre::collective {

struct TwoPhaseResult {
  Status status;  ///< what this rank met as an aggregator; not agreed upon yet
  /// Where this rank, as an aggregator, found the file to end; the largest number where it met no
  /// end.
  std::int64_t file_end = std::numeric_limits<std::int64_t>::max();
};

/// Collective. All arguments outlive the task; access.file lies in the plan's domains on every
/// rank, its view monotone.
///
/// Rounds are numbered alike on all ranks, and each rank goes through those in which it sends,
/// receives or moves bytes, in order; nothing else keeps ranks together. Why none waits forever: on
/// entering a round, before it waits for anything, a rank has posted all messages whose buffers
/// depend on no other message of that round: writing, all its sends and, as an aggregator, the
/// first portion of receives; reading, all its receives. So a rank in the lowest round that is
/// under way anywhere finds what it waits for already posted by ranks there or further on, and goes
/// on.
///
/// Memory of an aggregator: a cycle buffer, a bit for each of its bytes, and as much again for
/// messages in pieces; where ranks overlap so that a round's messages exceed this, they are taken
/// in portions. Memory of the others: their bytes of a round, where these are in pieces in memory.
Task<TwoPhaseResult> run_two_phase(Transport& transport, const CollectiveFile& file,
                                   const plan::CollectivePlan& plan, const TwoPhaseAccess& access);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TWO_PHASE_H_
