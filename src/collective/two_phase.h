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
/// Rounds are numbered alike on all ranks. Ranks on an aggregator's node place their bytes in its
/// cycle buffer themselves, each as far as the aggregator has opened it; ranks of other nodes send
/// them, round by round. Why none waits forever: an aggregator's round waits only for ranks of its
/// node to place in it, which they may without waiting for anything, and for messages of that
/// round; a rank has posted all its messages of a round before it waits for any of them, and posts
/// those of the next one when they are complete. So the lowest round that is under way anywhere
/// finds what it waits for and ends.
///
/// Memory of a node: that of NodeRounds. Of an aggregator with sources on other nodes: as much as a
/// cycle buffer for messages in pieces; where ranks overlap so that a round's messages exceed this,
/// they are taken in portions. Of a rank with aggregators on other nodes: its bytes of a round,
/// where these are in pieces in memory.
Task<TwoPhaseResult> run_two_phase(Transport& transport, const CollectiveFile& file,
                                   const plan::CollectivePlan& plan, const TwoPhaseAccess& access);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TWO_PHASE_H_
