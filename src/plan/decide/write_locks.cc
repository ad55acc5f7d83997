#include "plan/decide/write_locks.h"

#include <algorithm>

#include "plan/algorithms/algorithm_table.h"
#include "plan/domains/osts_touched.h"

namespace nacre::plan {
namespace {

/// Domains end at the ends of stripes, apart from the begin and the end of the plan.
bool keeps_pages_apart(const CollectivePlan& plan, const StripeMap& stripes) {
  constexpr std::int64_t page_bytes_max = 64 << 10;
  const bool by_stripes =
      plan.pattern == DomainPattern::stripes || plan.pattern == DomainPattern::osts;
  return by_stripes && std::ranges::all_of(stripes.regions(), [](const StripedRegion& region) {
           return region.stripe_size % page_bytes_max == 0 &&
                  region.extent.offset % page_bytes_max == 0;
         });
}

bool may_lock_group(const CollectivePlan& plan, const StripeMap& stripes,
                    const Participants& participants) {
  return participants.may_hold_group_lock && keeps_pages_apart(plan, stripes) &&
         stripes.knows_osts({0, layout_end_of_file});
}

}  // namespace

WriteLocks write_locks_for(const CollectivePlan& plan, const CollectiveSettings& settings,
                           const Participants& participants) {
  const WriteLocks wish = settings.write_locks;
  if (wish == WriteLocks::usual || participants.direction == Direction::read ||
      participants.node_count == 1 || row_of(plan).domains != DomainsOf::file ||
      settings.stripes == nullptr || !settings.stripes->names_osts()) {
    return WriteLocks::usual;
  }
  const StripeMap& stripes = *settings.stripes;
  if (wish == WriteLocks::group && !may_lock_group(plan, stripes, participants)) {
    return WriteLocks::usual;
  }
  return share_osts(domains_of(plan, settings), stripes) ? wish : WriteLocks::usual;
}

}  // namespace nacre::plan
