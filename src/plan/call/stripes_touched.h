// The OSTs that an access touches, in a fixed size.
#ifndef NACRE_PLAN_CALL_STRIPES_TOUCHED_H_
#define NACRE_PLAN_CALL_STRIPES_TOUCHED_H_

#include <cstdint>

#include "plan/layout/stripe_map.h"
#include "plan/types/run_cursor.h"

namespace nacre::plan {

/// A bit for each slot of a layout, modulo 64.
using SlotSet = std::uint64_t;

struct StripesTouched {
  SlotSet slots = 0;
  bool whole_pages = true;  ///< all runs begin and end at multiples of 4096
};

/// Of the region that holds most of the access, which is not empty. Takes at most about 1 us: of an
/// access with many runs that meet different stripes it assumes that it touches all slots, and no
/// whole pages.
[[nodiscard]] StripesTouched stripes_touched(const FileAccess& access, const StripeMap& stripes);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_CALL_STRIPES_TOUCHED_H_
