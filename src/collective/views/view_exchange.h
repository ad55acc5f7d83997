// View exchange: each aggregator receives the accesses of the ranks that touch its domain, in
// compact form, and in later calls only what has changed. Ranks and aggregators then enumerate the
// rounds by themselves.
#ifndef NACRE_COLLECTIVE_VIEWS_VIEW_EXCHANGE_H_
#define NACRE_COLLECTIVE_VIEWS_VIEW_EXCHANGE_H_

#include <span>
#include <vector>

#include "collective/collective_file.h"
#include "collective/files/round_file.h"
#include "collective/rounds/exchange_access.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "plan/domains/domain_walk.h"

namespace nacre::collective {

/// The ranks that an aggregator serves.
struct ServedRanks {
  RoundQueue elsewhere;  ///< ranks of other nodes, by relay
  /// In static segmentation: the group, including ranks of the aggregator's node.
  std::vector<Segment> segments;
};

/// Collective. `access` is what this rank moves (byte_count 0: nothing); its view is monotone.
/// file.rounds has begun the call; `walks` are the walks of the access through the domains of its
/// aggregators, by number. If all ranks are on one node, no view is exchanged, except in static
/// segmentation: there aggregators need to know the place in the file of bytes that other ranks
/// copied into the cycle buffer.
///
/// An aggregator expects each rank to access what it accessed last, moved in the file as the end of
/// the plan's domains has moved: the next time step. A rank sends a head of 40 bytes only if it
/// accesses other bytes in the domain, or none any more. The head contains the encoded view if that
/// is small, and travels through deliver() in O(log ranks) messages a rank: a head from each rank
/// to each aggregator would take ranks x aggregators messages, most of them without bytes. A larger
/// view follows in a message to the aggregator: the whole type or, if that is shorter, the runs of
/// the domain alone. A rank does not send again what file.views says the aggregator has: the type,
/// whichever part of it is accessed; the runs, if they are those of the same part of the view, as
/// they are if a time step moves as the domains do.
///
/// In static segmentation the domains do not move with the bytes of the ranks: a rank sends a head
/// for each step that continues in the file.
Task<ServedRanks> exchange_views(Transport& transport, const CollectiveFile& file,
                                 const ExchangePlan& exchange, const ExchangeAccess& access,
                                 std::span<const plan::DomainWalk> walks);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_VIEWS_VIEW_EXCHANGE_H_
