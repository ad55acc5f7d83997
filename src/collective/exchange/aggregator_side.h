// AggregatorSide: an aggregator's part in an exchange: the bytes of its rounds, between the ranks
// and the file.
#ifndef NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_
#define NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_

#include <cstdint>
#include <memory>

#include "collective/exchange/aggregator_rounds.h"
#include "collective/exchange/domain_messages.h"
#include "collective/exchange/driven_rounds.h"
#include "collective/files/file_jobs.h"
#include "collective/files/round_file.h"
#include "collective/profile/profile.h"
#include "collective/rounds/exchange_access.h"
#include "collective/rounds/node_rounds.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// Goes through the rounds in which anybody has bytes. Ranks of this node place their bytes in the
/// cycle buffer, or take them out, by themselves; the aggregator lets them in and waits for them
/// all. With ranks of other nodes it exchanges messages. As many rounds are under way as there are
/// cycle buffers, and as many file accesses as there are threads for them.
class AggregatorSide : public DrivenRounds {
 public:
  struct Domain {
    plan::Direction direction;
    const ExchangePlan& exchange;
    int number;  ///< of the aggregator on its node
    Profiler& profiler;
    int io_thread_count;  ///< 0: files are accessed by the rank itself
  };

 protected:
  AggregatorSide(Transport& transport, const Domain& domain, const NodeRounds& node,
                 RoundQueue sources, RoundFile& file);

  /// Whether `round` is one of the domain's.
  [[nodiscard]] bool exists(std::int64_t round) const {
    return round != no_round && file_.has_round(round);
  }

  AggregatorRounds rounds_;
  RoundQueue sources_;
  RoundFile& file_;
  FileJobs jobs_;
  DomainMessages messages_;
};

/// `node` is in the call; `sources` are the ranks of other nodes. What is referred to outlives the
/// side.
[[nodiscard]] std::unique_ptr<DrivenRounds> make_aggregator_side(
    Transport& transport, const AggregatorSide::Domain& domain, const NodeRounds& node,
    RoundQueue sources, RoundFile& file);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_AGGREGATOR_SIDE_H_
