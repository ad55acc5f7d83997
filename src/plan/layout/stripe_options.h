// Layouts as options of `lfs setstripe`.
#ifndef NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_
#define NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// `text` has options and their values, separated by blanks or not: -c COUNT, -S SIZE, -i OST,
/// -o OSTS (a list such as 0,2,4-6: one stripe on each; repeatable), -p POOL, -C COUNT
/// (overstriped), -L raid0 or mdt, or their long names. -E END begins a component of a composite
/// layout; its own options follow. A component inherits the count, the size and the pool of the
/// component before it. SIZE and END are bytes, or multiples of 1024 with k, m, g or t; COUNT -1 is
/// all OSTs; END -1 or eof is the end of the file. Error: names the option, its value and the valid
/// values.
[[nodiscard]] Result<Layout> parse_stripe_options(std::string_view text);

/// The options that request a layout like this one, without its choice of OSTs. The sizes and
/// counts of `layout` are known. "" if there are none, or if the layout has mirrors, parity or
/// components that extend, or is foreign: these have other options.
[[nodiscard]] std::string stripe_options_of(const Layout& layout);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_
