// AggregatorSide: an aggregator's part in an exchange; it moves the bytes of its rounds between the
// ranks and the file.
#ifndef NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_

#include <memory>

#include "collective/exchange/driven_rounds.h"
#include "collective/files/round_file.h"
#include "collective/profile/profile.h"
#include "collective/rounds/exchange_access.h"
#include "collective/rounds/node_rounds.h"
#include "collective/rounds/round_copies.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

struct AggregatorTask {
  plan::Direction direction;
  const ExchangePlan& exchange;
  int number;  ///< of the aggregator on its node
  Profiler& profiler;
  RoundCopies& copies;
  int io_thread_count;  ///< 0: the rank itself accesses the file
};

/// Drives the rounds in which any rank has bytes. Ranks of this node copy their bytes to and from
/// the cycle buffer by themselves: the aggregator opens rounds to them and waits until all of them
/// are done with a round. It exchanges messages with the relays of other nodes, whose ranks are
/// `sources`. As many rounds are in flight as there are cycle buffers, and as many file accesses as
/// there are threads for them.
///
/// `node` has begun the call. All arguments must outlive the result.
[[nodiscard]] std::unique_ptr<DrivenRounds> make_aggregator_side(Transport& transport,
                                                                 const AggregatorTask& task,
                                                                 const NodeRounds& node,
                                                                 RoundQueue sources,
                                                                 RoundFile& file);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_
