// What locks aggregators write under on Lustre, where several of them write to the same objects.
#ifndef NACRE_PLAN_DECIDE_WRITE_LOCKS_H_
#define NACRE_PLAN_DECIDE_WRITE_LOCKS_H_

#include "plan/call/collective_plan.h"

namespace nacre::plan {

/// Those that the settings ask for, where several nodes have parts of one OST; else the usual ones.
/// A group lock only where all may hold it, no page of memory, of 64 KiB at most, is of two
/// domains (what a node has not got of a page it writes back all the same), and all OSTs are known
/// (the lock would have the file system make all objects of the file).
[[nodiscard]] WriteLocks write_locks_for(const CollectivePlan& plan,
                                         const CollectiveSettings& settings,
                                         const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_WRITE_LOCKS_H_
