// AggregatorSide: what an aggregator works with in either direction.
#ifndef NACRE_COLLECTIVE_AGGREGATOR_SIDE_H_
#define NACRE_COLLECTIVE_AGGREGATOR_SIDE_H_

#include <utility>

#include "collective/aggregator_rounds.h"
#include "collective/domain_messages.h"
#include "collective/domain_side.h"
#include "collective/file_jobs.h"
#include "collective/round_file.h"
#include "collective/round_queue.h"

namespace nacre::collective {

/// Rounds on the node, what ranks elsewhere have in them, and the file behind.
class AggregatorSide : public DomainSide {
 protected:
  AggregatorSide(Transport& transport, const Domain& domain, const NodeRounds& node,
                 RoundQueue sources, RoundFile& file)
      : rounds_(transport, node, domain.number, domain.direction),
        sources_(std::move(sources)),
        file_(file),
        jobs_(transport, file, domain.profiler, domain.io_thread_count),
        messages_(transport, domain.direction, plan::round_bytes_max(domain.plan),
                  domain.profiler) {}

  /// Whether `round` is one of the domain's.
  [[nodiscard]] bool exists(std::int64_t round) {
    return round != no_round && file_.round_bytes(round) > 0;
  }

  AggregatorRounds rounds_;
  RoundQueue sources_;
  RoundFile& file_;
  FileJobs jobs_;
  DomainMessages messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGGREGATOR_SIDE_H_
