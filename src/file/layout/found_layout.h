// FileLayout: how an open file is striped, as rank 0 finds it and tells the others.
#ifndef NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_
#define NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_

#include <memory>
#include <optional>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// Whether NACRE_TEST_LAYOUT plays a layout, in the words of plan/stripe_options.h, over any file
/// system, of sizes 1024 times smaller than it says.
[[nodiscard]] bool plays_layout();

/// The layout of the file, or the one that is played, as usable_layout() has it; none where it is
/// not striped. Error: one that cannot be read, with its system_errno, or not be used; the file may
/// be accessed as one without.
[[nodiscard]] Result<std::optional<plan::Layout>> find_layout(
    store::StoreFile& file, const store::FileSystemFacts& file_system);

/// With counts of stripes as numbers where they stand for all OSTs, as far as `layouts` (may be
/// null) can tell how many there are. Error: a layout that cannot be used.
[[nodiscard]] Result<std::optional<plan::Layout>> usable_layout(std::optional<plan::Layout> layout,
                                                                store::FileLayouts* layouts);

[[nodiscard]] Result<std::shared_ptr<const plan::StripeMap>> stripes_of(const plan::Layout& layout);

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_
