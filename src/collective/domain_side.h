// DomainSide: an aggregator's part in an exchange: the bytes of its rounds, between the
// ranks and the file.
#ifndef NACRE_COLLECTIVE_DOMAIN_SIDE_H_
#define NACRE_COLLECTIVE_DOMAIN_SIDE_H_

#include <memory>

#include "collective/node_rounds.h"
#include "collective/profile.h"
#include "collective/round_file.h"
#include "collective/round_queue.h"
#include "collective/transport.h"
#include "plan/collective_plan.h"
#include "plan/memory_access.h"

namespace nacre::collective {

/// Goes through the rounds in which anybody has bytes, in order. Ranks of this node place their
/// bytes in the cycle buffer, or take them out, by themselves; the aggregator lets them in and
/// waits for them all. With ranks of other nodes it exchanges messages. As many rounds are under
/// way as there are cycle buffers, and as many file accesses as there are threads for them.
class DomainSide {
 public:
  struct Domain {
    plan::Direction direction;
    const plan::CollectivePlan& plan;
    int number;  ///< of the aggregator on its node
    Profiler& profiler;
    int io_thread_count;  ///< 0: files are accessed by the rank itself
  };
  virtual ~DomainSide() = default;

  [[nodiscard]] virtual bool done() const = 0;
  /// Goes on as far as ranks, messages and files allow; whether that was anywhere.
  bool step();

 private:
  /// The next thing that can be done, if any; whether there was one. Not done().
  virtual bool advance() = 0;
};

/// `rounds` is in the call; `sources` are the ranks of other nodes. What is referred to outlives
/// the side.
[[nodiscard]] std::unique_ptr<DomainSide> make_domain_side(Transport& transport,
                                                           const DomainSide::Domain& domain,
                                                           const NodeRounds& rounds,
                                                           RoundQueue sources, RoundFile& file);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_SIDE_H_
