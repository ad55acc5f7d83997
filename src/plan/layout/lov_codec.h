// The bytes of the xattrs `lustre.lov`, `lustre.lov.add` and `lustre.lov.del`, as the kernel's
// interface lustre_user.h declares them: little-endian records of magic V1, V3, SPECIFIC, COMP and
// FOREIGN.
#ifndef NACRE_PLAN_LAYOUT_LOV_CODEC_H_
#define NACRE_PLAN_LAYOUT_LOV_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// Error: the bytes are truncated, contradictory, or of a kind that this version does not know.
[[nodiscard]] Result<Layout> decode_lov(std::span<const std::byte> bytes);

/// Bytes from which decode_lov() makes the same layout. They are the file system's own bytes if it
/// writes its records without gaps. Error: a number does not fit the format.
[[nodiscard]] Result<std::vector<std::byte>> encode_lov(const Layout& layout);

/// `layout` as a request that every version of Lustre follows. "N stripes on each OST" becomes a
/// number, since old versions know no other form; it remains if `ost_count` fails, which is called
/// for such a count only. A plain layout whose first OST is 0 becomes composite, since clients
/// ignore 0 in a plain layout.
[[nodiscard]] Layout lov_request(Layout layout,
                                 const std::function<Result<std::int32_t>()>& ost_count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LOV_CODEC_H_
