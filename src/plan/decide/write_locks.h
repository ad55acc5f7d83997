// The locks of aggregators on Lustre if several aggregators write to the same objects.
#ifndef NACRE_PLAN_DECIDE_WRITE_LOCKS_H_
#define NACRE_PLAN_DECIDE_WRITE_LOCKS_H_

#include <string_view>

#include "plan/call/collective_plan.h"

namespace nacre::plan {

/// The locks of the settings if several aggregators write to one OST, otherwise the usual locks:
/// the plan does not say on which nodes they are. A group lock has further conditions: all ranks
/// may hold it; no page of memory, of at most 64 KiB, belongs to two domains (a node writes whole
/// pages back); and all OSTs are known (the lock would make the file system create all objects of
/// the file).
[[nodiscard]] WriteLocks write_locks_for(const CollectivePlan& plan,
                                         const CollectiveSettings& settings,
                                         const Participants& participants);

/// What keeps a decided plan from the locks of the settings; empty if nothing does, or if it does
/// not need them because one rank writes, or because each OST has one writer.
[[nodiscard]] std::string_view write_locks_obstacle(const CollectivePlan& plan,
                                                    const CollectiveSettings& settings,
                                                    const Participants& participants);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DECIDE_WRITE_LOCKS_H_
