// FileLayout: how an open file is striped, as rank 0 finds it and tells the others.
#ifndef NACRE_FILE_FILE_LAYOUT_H_
#define NACRE_FILE_FILE_LAYOUT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/stripe_map.h"
#include "store/store.h"

namespace nacre::file {

/// Whether NACRE_TEST_LAYOUT plays a layout, in the words of plan/stripe_options.h, over any file
/// system, of sizes 1024 times smaller than it says.
[[nodiscard]] bool plays_layout();

/// The bytes of the file's layout (plan/lov_codec.h), or of the one that is played; empty where it
/// is not striped. Error: a layout that cannot be used; the file may be
/// accessed as one without.
[[nodiscard]] Result<std::vector<std::byte>> find_layout(
    store::StoreFile& file, const store::FileSystemTraits& file_system);

/// Of such bytes; null of none.
[[nodiscard]] Result<std::shared_ptr<const plan::StripeMap>> stripes_of(
    std::span<const std::byte> layout);

}  // namespace nacre::file

#endif  // NACRE_FILE_FILE_LAYOUT_H_
