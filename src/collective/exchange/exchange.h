// The exchange: aggregators move the bytes of other ranks to and from the file, a cycle buffer a
// round. It is the same for two-phase (Thakur & Choudhary, Scientific Programming 5(4), 1996) and
// for dynamic and static segmentation (Chaarawi & Gabriel, IEEE Cluster 2011): these differ in whom
// an aggregator serves and where bytes have their places in rounds, which the plan says, and in how
// a round comes to the file, which its RoundFile knows.
#ifndef NACRE_COLLECTIVE_EXCHANGE_EXCHANGE_H_
#define NACRE_COLLECTIVE_EXCHANGE_EXCHANGE_H_

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "collective/collective_file.h"
#include "collective/rounds/exchange_access.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

struct ExchangeResult {
  Status status;  ///< what this rank met as an aggregator; not agreed upon yet
  /// Where this rank, as an aggregator, found the file to end; the largest number where it met no
  /// end.
  std::int64_t file_end = std::numeric_limits<std::int64_t>::max();
};

/// Collective. All arguments outlive the task; file.rounds is in the call; access.placed lies in
/// the plan's domains on every rank, the views monotone.
///
/// Rounds are numbered alike on all ranks. Ranks on an aggregator's node place their bytes in its
/// cycle buffer themselves, each as far as the aggregator has opened it; those of another node
/// likewise in that of their relay, which sends what they all have in a round as one message. Why
/// none waits forever: each aggregator's rounds go on by themselves, since a rank drives all that
/// it takes part in side by side. The lowest of them that is under way anywhere waits only for
/// ranks to place in it, which they may without waiting for anything, and then for the relays'
/// messages of that round.
///
/// Memory of a node: that of NodeRounds. Of an aggregator with ranks on other nodes: as much as a
/// cycle buffer for messages in pieces; where nodes overlap so that a round's messages exceed this,
/// they are taken in portions. Of a relay: as much for each cycle buffer whose bytes are in pieces.
Task<ExchangeResult> run_exchange(Transport& transport, const CollectiveFile& file,
                                  const ExchangePlan& exchange, const ExchangeAccess& access);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_EXCHANGE_H_
