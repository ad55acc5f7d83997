// The bytes of OrangeFS's xattrs `system.pvfs2.md` (the distribution of a file) and
// `system.pvfs2.dh` (the handles of its data files, each on one server).
#ifndef NACRE_PLAN_LAYOUT_ORANGEFS_LAYOUT_H_
#define NACRE_PLAN_LAYOUT_ORANGEFS_LAYOUT_H_

#include <cstddef>
#include <span>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// A plain layout: each data file is a stripe, on the OST with its number in the file. Error: the
/// distribution is neither simple_stripe nor basic_dist (one data file), or bytes are missing, or a
/// number is out of range.
[[nodiscard]] Result<Layout> decode_orangefs_layout(std::span<const std::byte> distribution,
                                                    std::span<const std::byte> handles);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_ORANGEFS_LAYOUT_H_
