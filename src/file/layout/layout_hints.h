// The striping hints: the layout that they request, and their values for an open file.
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

/// What the file system of a new file answers. Functions are called only if the answer matters.
struct LayoutLimits {
  std::function<Result<std::int32_t>()> ost_count;
  std::function<Status(const plan::Layout&)> check;  ///< store::Store::check_layout
};

/// The layout that the hints request; none if they request none. Invalid values are corrected or
/// ignored, with a note.
[[nodiscard]] std::optional<plan::Layout> requested_layout(Hints& hints,
                                                           const LayoutLimits& limits);

/// The rules by which Nacre chooses the layout of a file from its first writes.
[[nodiscard]] plan::GrowthRules growth_rules(const Hints& hints);
/// When a new file gets its layout if the hints request none.
[[nodiscard]] store::LayoutTime layout_time(const Hints& hints);

/// Whether `has` satisfies each property that `asked` specifies.
[[nodiscard]] bool fits(const plan::Layout& asked, const plan::Layout& has);

/// Sets the striping hints to the actual layout (for a composite layout, to its last component),
/// with a note for each value that differs from the request. `stripes` belong to `layout`.
void set_actual_layout(Hints& hints, const plan::Layout& layout, const plan::StripeMap& stripes);

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_LAYOUT_HINTS_H_
