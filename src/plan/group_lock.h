// When aggregators may write under a group lock of a Lustre file, which takes the file system's own
// locks out of the way of writers that share its objects.
#ifndef NACRE_PLAN_GROUP_LOCK_H_
#define NACRE_PLAN_GROUP_LOCK_H_

#include "plan/collective_plan.h"

namespace nacre::plan {

/// Whether several of the plan's domains have parts of one OST, and no page of memory, of 64 KiB at
/// most, is of two of them: under a group lock what a node has not got of a page it writes back all
/// the same. Not where an OST is not known, since the lock would have the file system make all
/// objects of the file.
[[nodiscard]] bool gains_by_group_lock(const CollectivePlan& plan,
                                       const CollectiveSettings& settings);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_GROUP_LOCK_H_
