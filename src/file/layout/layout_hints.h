// The hints of how a file is striped: what they ask of a new one, and what is told of an open one.
#ifndef NACRE_FILE_LAYOUT_LAYOUT_HINTS_H_
#define NACRE_FILE_LAYOUT_LAYOUT_HINTS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "file/hints/hints.h"
#include "plan/layout/layout.h"
#include "plan/layout/layout_growth.h"
#include "plan/layout/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// How many OSTs there are, asked where that matters.
using OstCount = std::function<Result<std::int32_t>()>;

/// The layout that they ask for; none where they ask for none. What cannot be is corrected or left
/// out, with a note.
[[nodiscard]] std::optional<plan::Layout> asked_layout(Hints& hints, const OstCount& ost_count);

/// When the layout of a file is chosen from what is written to it.
[[nodiscard]] plan::GrowthRules growth_rules(const Hints& hints);
/// When a new file gets its layout where they ask for none.
[[nodiscard]] store::LayoutTime layout_time(const Hints& hints);

/// Sets the striping hints to what the file has, of a composite layout in its last component; with
/// a note where something else was asked for. `stripes` are the layout's.
void tell_layout(Hints& hints, const plan::Layout& layout, const plan::StripeMap& stripes);

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_LAYOUT_HINTS_H_
