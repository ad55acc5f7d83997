#include "plan/domains/osts_touched.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::plan {
namespace {

/// (-1, OST), or (region, slot) if the OST is unknown.
using OstName = std::pair<std::int64_t, std::int32_t>;

OstName name_of(std::size_t region, const StripedRegion& striped, std::int32_t slot) {
  const std::int32_t ost = striped.osts[static_cast<std::size_t>(slot)];
  if (ost == unknown_ost) return {static_cast<std::int64_t>(region), slot};
  return {-1, ost};
}

/// Adds the OSTs of a domain in a region, stripe by stripe, until the OSTs repeat.
void add_osts_of(const FileDomains& domains, int domain, std::size_t number,
                 const StripedRegion& region, std::set<OstName>& osts) {
  const std::int64_t patience = 2 * std::int64_t{region.slot_count()};
  const Extent part = intersection(region.extent, domains.range());
  std::int64_t known = 0;
  for (std::int64_t offset = part.offset; offset < part.end() && known <= patience; ++known) {
    const std::optional<std::int64_t> found = domains.next_of(domain, offset);
    if (!found || *found >= part.end()) return;
    const std::int64_t stripe = *found / region.stripe_size;
    const auto slot = static_cast<std::int32_t>(stripe % region.slot_count());
    if (osts.insert(name_of(number, region, slot)).second) known = 0;
    offset = saturating_multiply(stripe + 1, region.stripe_size);
  }
}

std::set<OstName> osts_of(const FileDomains& domains, int domain, const StripeMap& stripes) {
  std::set<OstName> osts;
  for (std::size_t i = 0; i < stripes.regions().size(); ++i) {
    add_osts_of(domains, domain, i, stripes.regions()[i], osts);
  }
  return osts;
}

}  // namespace

OstsTouched osts_touched(const FileDomains& domains, const StripeMap& stripes) {
  OstsTouched touched;
  std::map<OstName, std::int32_t> domains_on;
  for (int domain = 0; domain < domains.count(); ++domain) {
    const std::set<OstName> osts = osts_of(domains, domain, stripes);
    if (osts.empty()) continue;
    const auto count = static_cast<std::int32_t>(osts.size());
    touched.min = touched.min == 0 ? count : std::min(touched.min, count);
    touched.max = std::max(touched.max, count);
    for (const OstName& ost : osts) {
      touched.domains_on_one = std::max(touched.domains_on_one, ++domains_on[ost]);
    }
  }
  return touched;
}

bool share_osts(const FileDomains& domains, const StripeMap& stripes) {
  std::set<OstName> taken;
  for (int domain = 0; domain < domains.count(); ++domain) {
    for (const OstName& ost : osts_of(domains, domain, stripes)) {
      if (!taken.insert(ost).second) return true;
    }
  }
  return false;
}

}  // namespace nacre::plan
