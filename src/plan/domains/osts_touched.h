// How many OSTs the aggregators of a plan really touch.
#ifndef NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_
#define NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_

#include <cstdint>

#include "plan/domains/file_domains.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {

struct OstsTouched {
  std::int32_t min = 0;             ///< by the domain that has bytes on fewest; 0: not known
  std::int32_t max = 0;             ///< by the one that has bytes on most
  std::int32_t domains_on_one = 0;  ///< on the OST that most domains share
};

/// Of OSTs that are not known yet each slot counts as one. Looks at as many rounds of a domain as
/// there are slots after the last that brought a new OST: patterns go round with less.
[[nodiscard]] OstsTouched osts_touched(const FileDomains& domains, const StripeMap& stripes);

/// Whether several domains have bytes on one OST.
[[nodiscard]] bool share_osts(const FileDomains& domains, const StripeMap& stripes);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_DOMAINS_OSTS_TOUCHED_H_
