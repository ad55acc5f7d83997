// Delivery of small messages (parcels) to receivers that do not know their senders.
#ifndef NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_
#define NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_

#include <cstddef>
#include <vector>

#include "collective/task/task.h"
#include "collective/task/transport.h"

namespace nacre::collective {

struct Parcel {
  int rank = 0;  ///< when sent: the receiver; when received: the sender
  std::vector<std::byte> bytes;
};

/// Collective. Returns the parcels for this rank, ordered by sender (and for one sender in the
/// order given). Ranks forward parcels in steps of 1, 2, 4, ... ranks (Bruck et al., IEEE TPDS
/// 8(11), 1997): each rank sends 2 log2(ranks) messages at most, and a parcel is forwarded
/// log2(ranks) times at most. A step adds 4 bytes, and 12 bytes per parcel. Ranks hold the parcels
/// that they forward, less than 4 GiB.
Task<std::vector<Parcel>> deliver(Transport& transport, std::vector<Parcel> outgoing);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_AGREEMENT_PARCELS_H_
