#include "plan/osts_touched.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace nacre::plan {
namespace {

/// The number of the OST, or what stands for one that is not known: region and slot.
using OstName = std::pair<std::int64_t, std::int32_t>;

OstName name_of(std::size_t region, const StripedRegion& striped, std::int32_t slot) {
  const std::int32_t ost = striped.osts[static_cast<std::size_t>(slot)];
  if (ost == unknown_ost) return {static_cast<std::int64_t>(region), slot};
  return {-1, ost};
}

void add_osts_of(const Extent& file, const StripeMap& stripes, std::set<OstName>& osts) {
  for (std::size_t i = 0; i < stripes.regions().size(); ++i) {
    const StripedRegion& region = stripes.regions()[i];
    const Extent here = intersection(file, region.extent);
    if (here.empty()) continue;
    const std::int64_t first = here.offset / region.stripe_size;
    const std::int64_t last = (here.end() - 1) / region.stripe_size;
    const std::int64_t end = std::min(last + 1, first + region.slot_count());
    for (std::int64_t stripe = first; stripe < end; ++stripe) {
      osts.insert(name_of(i, region, static_cast<std::int32_t>(stripe % region.slot_count())));
    }
  }
}

std::int64_t slots_of(const StripeMap& stripes) {
  std::int64_t slots = 0;
  for (const StripedRegion& region : stripes.regions()) slots += region.slot_count();
  return slots;
}

/// Of a domain, those of the rounds from that on in which it comes to `offset` or behind, until
/// they are the same over and over.
void add_osts_from(std::int64_t offset, const FileDomains& domains, int domain,
                   const StripeMap& stripes, std::set<OstName>& osts) {
  const std::optional<std::int64_t> first = domains.next_of(domain, offset);
  if (!first) return;
  const std::int64_t patience = slots_of(stripes);
  const std::int64_t rounds = domains.round_count_of(domain);
  std::vector<FilePart> parts;
  std::int64_t round = domains.place_of(*first).round;
  for (std::int64_t last_new = round; round < rounds && round <= last_new + patience; ++round) {
    const std::size_t before = osts.size();
    domains.round_parts(domain, round, parts);
    for (const FilePart& part : parts) add_osts_of(part.file, stripes, osts);
    if (osts.size() > before) last_new = round;
  }
}

std::set<OstName> osts_of(const FileDomains& domains, int domain, const StripeMap& stripes) {
  const Extent range = domains.range();
  std::set<OstName> osts;
  for (const StripedRegion& region : stripes.regions()) {
    const Extent part = intersection(region.extent, range);
    if (!part.empty()) add_osts_from(part.offset, domains, domain, stripes, osts);
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
    touched.least = touched.least == 0 ? count : std::min(touched.least, count);
    touched.most = std::max(touched.most, count);
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
