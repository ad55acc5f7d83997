// Traffic: how a collective call under a plan accesses the file, before any machine says how long
// that takes.
#ifndef NACRE_PLAN_DECIDE_TRAFFIC_H_
#define NACRE_PLAN_DECIDE_TRAFFIC_H_

#include "plan/algorithms/algorithm_table.h"
#include "plan/call/collective_plan.h"

namespace nacre::plan {

/// The stripes of the range that a call accesses. If they are unknown, as before the first write
/// to a component, they are taken for one OST, which costs nothing on a machine without OSTs.
struct RangeStripes {
  double slots = 1;
  double stripe_bytes = 1;

  [[nodiscard]] double osts_of(double bytes) const;
  /// The most stripes of a contiguous range that one OST has.
  [[nodiscard]] double rows_of(double bytes) const;
};

/// The accesses to the file, by all processes that access it.
struct Traffic {
  RangeStripes stripes = {};

  double bytes = 0;
  double writers = 1;        ///< processes that access the file
  double nodes = 1;          ///< with such processes
  double calls = 1;          ///< of all of them
  double osts = 1;           ///< of the file, that are accessed
  double nodes_per_ost = 1;  ///< that access one OST at the same time
  double shared_pieces = 0;  ///< contiguous accesses that take a lock from another node
  /// The part of the bytes that nodes write to a shared OST one after the other. Each takes the
  /// lock of the whole object, and waits until the other has written back.
  double passed_on = 0;
  double in_flight = 0;            ///< bytes that one process keeps in flight when it reads
  double waits = 1;                ///< for an answer of an OST, one after the other
  double lock_waits = 1;           ///< for locks, one after the other
  double osts_waited_for = 1;      ///< in turn by one process, if no other process reads from them
  double nodes_in_same_order = 1;  ///< nodes that begin to read at the same OST, on average
  double osts_in_same_order = 1;   ///< OSTs that they reach before the first OST of other nodes

  double fullest_writer = 1;     ///< the part of the bytes of the writer that has the most
  double fullest_node = 1;       ///< of the node whose writers have the most
  double fullest_ost_bytes = 0;  ///< of the OST that has the most

  bool divides_osts = false;  ///< each aggregator has the stripes on some OSTs
  /// Short writes and writes in steps load OSTs and links in turn. Nodes keep the bytes of several
  /// calls in their caches, so that all are busy at the same time.
  bool overlaps_next_calls = false;
  double calls_at_once = 1;  ///< reads that go on in steps are ahead by some calls
  /// Only the node of rank 0 waits for answers: the other nodes have read ahead.
  bool others_read_ahead = false;

  /// Processes that read their next contiguous pieces from the same OST.
  [[nodiscard]] double readers_per_ost() const;
};

/// `plan` is complete, or that of segmentation before the groups are known.
/// `inputs.settings.machine` is not null.
[[nodiscard]] Traffic traffic_of(const CollectivePlan& plan, const PlanInputs& inputs);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_TRAFFIC_H_
