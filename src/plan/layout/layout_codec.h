// Layouts of any file system as bytes: those of its own xattr.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_CODEC_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_CODEC_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// The bytes of lustre.lov or of ceph.file.layout. Error: as decode_lov(), parse_ceph_layout().
[[nodiscard]] Result<Layout> decode_layout(std::span<const std::byte> bytes);
/// Error: as encode_lov().
[[nodiscard]] Result<std::vector<std::byte>> encode_layout(const Layout& layout);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_CODEC_H_
