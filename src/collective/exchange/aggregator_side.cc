#include "collective/exchange/aggregator_side.h"

#include <utility>

#include "collective/exchange/domain_reader.h"
#include "collective/exchange/domain_writer.h"

namespace nacre::collective {

AggregatorSide::AggregatorSide(Transport& transport, const Domain& domain, const NodeRounds& node,
                               RoundQueue sources, RoundFile& file)
    : rounds_(transport, node, domain.number, domain.direction),
      sources_(std::move(sources)),
      file_(file),
      jobs_(transport, file, domain.profiler, domain.io_thread_count),
      messages_(transport, domain.direction, domain.exchange.domains.round_bytes_max(),
                domain.profiler) {}

std::unique_ptr<DrivenRounds> make_aggregator_side(Transport& transport,
                                                   const AggregatorSide::Domain& domain,
                                                   const NodeRounds& node, RoundQueue sources,
                                                   RoundFile& file) {
  if (domain.direction == plan::Direction::write) {
    return std::make_unique<DomainWriter>(transport, domain, node, std::move(sources), file);
  }
  return std::make_unique<DomainReader>(transport, domain, node, std::move(sources), file);
}

}  // namespace nacre::collective
