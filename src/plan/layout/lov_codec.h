// The bytes of the xattr `lustre.lov` (and of what is written to `lustre.lov.add` and `.del`), of
// the kernel's interface lustre_user.h: little-endian records of magic V1, V3, SPECIFIC, COMP and
// FOREIGN.
#ifndef NACRE_PLAN_LAYOUT_LOV_CODEC_H_
#define NACRE_PLAN_LAYOUT_LOV_CODEC_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// Error: truncated, contradictory, or of a kind that this version does not know.
[[nodiscard]] Result<Layout> decode_lov(std::span<const std::byte> bytes);

/// What decode_lov makes the same layout of; byte for byte the file system's own where that writes
/// its records one behind the other. Error: a number that has no room in the format.
[[nodiscard]] Result<std::vector<std::byte>> encode_lov(const Layout& layout);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LOV_CODEC_H_
