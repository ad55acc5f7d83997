// The layout that an open file has, read on rank 0.
#ifndef NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_
#define NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_

#include <memory>
#include <optional>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// Whether NACRE_TEST_LAYOUT simulates a layout on any file system. Its value has the options of
/// plan/layout/stripe_options.h; sizes are divided by 1024.
[[nodiscard]] bool simulates_layout();

/// The layout of the file, or the simulated one, after usable_layout(); none if the file is not
/// striped. Fails, with the system_errno, if the layout cannot be read or used; the caller may then
/// treat the file as not striped.
[[nodiscard]] Result<std::optional<plan::Layout>> find_layout(
    store::StoreFile& file, const store::FileSystemFacts& file_system);

/// Replaces stripe counts that stand for all OSTs by numbers, if `layouts` (may be null) knows the
/// number of OSTs. Fails if Nacre cannot use the layout.
[[nodiscard]] Result<std::optional<plan::Layout>> usable_layout(std::optional<plan::Layout> layout,
                                                                store::FileLayouts* layouts);

[[nodiscard]] Result<std::shared_ptr<const plan::StripeMap>> stripes_of(const plan::Layout& layout);

}  // namespace nacre::file

#endif  // NACRE_FILE_LAYOUT_FOUND_LAYOUT_H_
