// The exchange: aggregators move the bytes of other ranks to and from the file, one cycle buffer a
// round. Two-phase I/O (Thakur & Choudhary, Scientific Programming 5(4), 1996) and dynamic and
// static segmentation (Chaarawi & Gabriel, IEEE Cluster 2011) are the same exchange. They differ in
// which ranks an aggregator serves and in the place of a byte in rounds, both in the plan, and in
// how a round is accessed in the file (RoundFile).
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
  Status status;  ///< of this rank as an aggregator; ranks have not agreed on it
  /// The end of the file that this rank found as an aggregator; the largest number if no read
  /// reached the end.
  std::int64_t file_end = std::numeric_limits<std::int64_t>::max();
};

/// Collective. All arguments must outlive the task. file.rounds has begun the call; access.placed
/// lies in the domains of the plan on all ranks; views are monotone.
///
/// All ranks number rounds alike. Ranks on an aggregator's node copy their bytes into its cycle
/// buffer by themselves, as far as the aggregator has opened rounds. Ranks of another node do the
/// same with the cycle buffer of their relay, which sends one message a round with all their bytes.
/// The only rank of a node sends its bytes itself.
///
/// No rank waits forever: a rank drives all rounds in which it takes part side by side, so the
/// rounds of an aggregator do not wait for those of another. The lowest round of an aggregator that
/// is in flight anywhere waits only for ranks to place their bytes, which they can do without
/// waiting, and then for the messages of the relays in that round.
///
/// Memory of a node: see NodeRounds. Memory of an aggregator that serves other nodes: as much as a
/// cycle buffer for messages that must be packed; if the messages of a round need more because
/// nodes overlap, they are exchanged in portions. Memory of a relay: as much as a cycle buffer for
/// each round whose message must be packed. Memory of the only rank of a node: the packed messages
/// that are in flight.
Task<ExchangeResult> run_exchange(Transport& transport, const CollectiveFile& file,
                                  const ExchangePlan& exchange, const ExchangeAccess& access);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_EXCHANGE_H_
