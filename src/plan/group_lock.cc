#include "plan/group_lock.h"

#include <algorithm>

#include "plan/osts_touched.h"

namespace nacre::plan {
namespace {

/// Domains end where stripes do, but for where the plan begins and ends.
bool keeps_pages_apart(const CollectivePlan& plan, const StripeMap& stripes) {
  constexpr std::int64_t page_bytes_max = 64 << 10;
  const bool by_stripes =
      plan.pattern == DomainPattern::stripes || plan.pattern == DomainPattern::slots;
  return by_stripes && std::ranges::all_of(stripes.regions(), [](const StripedRegion& region) {
           return region.stripe_size % page_bytes_max == 0 &&
                  region.extent.offset % page_bytes_max == 0;
         });
}

}  // namespace

bool gains_by_group_lock(const CollectivePlan& plan, const CollectiveSettings& settings) {
  if (plan.algorithm != Algorithm::two_phase || settings.stripes == nullptr) return false;
  const StripeMap& stripes = *settings.stripes;
  return keeps_pages_apart(plan, stripes) && stripes.knows_osts({0, layout_end_of_file}) &&
         osts_touched(domains_of(plan, settings), stripes).domains_on_one > 1;
}

}  // namespace nacre::plan
