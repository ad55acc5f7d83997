#include "collective/domain_side.h"

#include <utility>

#include "collective/domain_reader.h"
#include "collective/domain_writer.h"

namespace nacre::collective {

bool DomainSide::step() {
  bool moved = false;
  while (!done() && advance()) moved = true;
  return moved;
}

std::unique_ptr<DomainSide> make_domain_side(Transport& transport, const DomainSide::Domain& domain,
                                             const NodeRounds& rounds, RoundQueue sources,
                                             RoundFile& file) {
  if (domain.direction == plan::Direction::write) {
    return std::make_unique<DomainWriter>(transport, domain, rounds, std::move(sources), file);
  }
  return std::make_unique<DomainReader>(transport, domain, rounds, std::move(sources), file);
}

}  // namespace nacre::collective
