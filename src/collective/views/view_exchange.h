// View exchange: every aggregator learns the accesses of the ranks that touch its domain, in
// compact form, and in later calls what is new about them. From then on both sides enumerate the
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

/// What an aggregator knows of the ranks that it serves.
struct ServedRanks {
  RoundQueue elsewhere;  ///< of other nodes, by their relays
  /// In static segmentation: the group, ranks of the aggregator's own node included.
  std::vector<Segment> segments;
};

/// Collective. `access` is what this rank moves (byte_count 0: nothing), monotone. file.rounds is
/// in the call; `walks` are those of the access with its aggregators, by number. Where all ranks
/// are on one node nothing is exchanged, but in static segmentation, whose aggregators have to know
/// where bytes belong that have been placed by others.
///
/// An aggregator expects of the ranks that it serves what they told it last, moved in the file as
/// the end of the plan's domains has moved: the next time step. Only where that is wrong a rank
/// tells it: that it has other bytes in the domain, or none. It sends a head of 40 bytes, with the
/// encoded view in it where that is small, through deliver(): O(log ranks) messages a rank, whereas
/// a head from every rank to every aggregator would be ranks x aggregators messages, of which most
/// say "nothing", and a reduced bitmap ranks x aggregators bits on every rank. Larger views follow
/// straight from rank to aggregator: the whole type, or, where that is shorter, the runs of the
/// domain alone. What file.views knows the aggregator to have is not sent again: the type, whatever
/// part of it is accessed; the runs, if they are those of the same part of the view, which they are
/// where a time step moves as the domains do.
///
/// In static segmentation the domains are not of the file and do not move with the ranks' bytes: a
/// step that goes on in the file is told.
Task<ServedRanks> exchange_views(Transport& transport, const CollectiveFile& file,
                                 const ExchangePlan& exchange, const ExchangeAccess& access,
                                 std::span<const plan::DomainWalk> walks);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_VIEWS_VIEW_EXCHANGE_H_
