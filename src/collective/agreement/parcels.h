// Delivery of small parcels to a few ranks each, when no receiver knows who sends to it.
#ifndef NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_
#define NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_

#include <cstddef>
#include <vector>

#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

struct Parcel {
  int rank = 0;  ///< going out: where to; coming in: where from
  std::vector<std::byte> bytes;
};

/// Collective. The parcels addressed to this rank, lowest sender first (two of one sender in the
/// order given). Each rank sends 2 log2(ranks) messages at most, whoever writes to whom: parcels
/// are passed on in steps of 1, 2, 4, ... ranks (Bruck et al., IEEE TPDS 8(11), 1997), each at most
/// log2(ranks) times, and only those that exist; a step costs 4 bytes, and 12 with each parcel. A
/// rank thereby holds the parcels of others on their way, less than 4 GiB; where all write to a
/// few, the steps before these few carry most, which is what these receive in the end anyway.
Task<std::vector<Parcel>> deliver(Transport& transport, std::vector<Parcel> outgoing);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_
