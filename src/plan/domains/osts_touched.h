// The number of OSTs that the aggregators of a plan access.
#ifndef NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_
#define NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_

#include <cstdint>

#include "plan/domains/file_domains.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {

struct OstsTouched {
  std::int32_t min = 0;             ///< of the domain on the fewest OSTs; 0: unknown
  std::int32_t max = 0;             ///< of the domain on the most OSTs
  std::int32_t domains_on_one = 0;  ///< of the OST with the most domains
};

/// A slot whose OST is unknown counts as an OST. The search in a domain ends after twice as many
/// stripes as there are slots without a new OST: every pattern repeats sooner.
[[nodiscard]] OstsTouched osts_touched(const FileDomains& domains, const StripeMap& stripes);

/// Whether two domains have bytes on one OST.
[[nodiscard]] bool share_osts(const FileDomains& domains, const StripeMap& stripes);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_
