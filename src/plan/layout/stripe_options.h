// Layouts asked for in words: the common options of `lfs setstripe`.
#ifndef NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_
#define NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// Options apart by blanks, each with its value, apart or not: -c COUNT, -S SIZE, -i OST, -p POOL,
/// -C COUNT (overstriped), -L raid0 or mdt, or their long names. With -E END, for each component of
/// a composite layout, from the beginning of the file on: -E first, then the component's own;
/// count, size and pool are those of the component before where they are not given. SIZE and END
/// are bytes, or with k, m, g or t multiples of 1024; COUNT -1 is all OSTs; END -1 or eof the end
/// of the file. Error: names the option, its value and what would be right.
[[nodiscard]] Result<Layout> parse_stripe_options(std::string_view text);

/// The same the other way: what would ask for such a layout as a file has it, of sizes and counts
/// that are known, but for its OSTs. "" where that is nothing, and of mirrors, components that
/// extend and foreign ones, which have options of their own.
[[nodiscard]] std::string stripe_options_of(const Layout& layout);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_STRIPE_OPTIONS_H_
