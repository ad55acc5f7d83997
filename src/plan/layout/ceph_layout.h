// The text of CephFS's xattrs `ceph.file.layout` and `ceph.dir.layout`, for example
// "stripe_unit=1048576 stripe_count=4 object_size=4194304 pool=data".
#ifndef NACRE_PLAN_LAYOUT_CEPH_LAYOUT_H_
#define NACRE_PLAN_LAYOUT_CEPH_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// OSDs refuse longer objects, unless osd_max_object_size is set.
inline constexpr std::int64_t ceph_object_size_max = 128 << 20;

/// A plain layout with an object size, as a file on CephFS has.
[[nodiscard]] bool is_ceph_layout(const Layout& layout);

/// Keys that are not in the example, such as pool_namespace, are ignored. Error: a key or its value
/// is missing or out of range, or the object size is no multiple of the stripe unit.
[[nodiscard]] Result<Layout> parse_ceph_layout(std::string_view text);
/// The text from which parse_ceph_layout() makes the layout. `layout`: is_ceph_layout().
[[nodiscard]] std::string ceph_layout_text(const Layout& layout);

/// The text that requests `asked` of a file that has `current`: only keys that `asked` sets, "" if
/// there are none. A file on CephFS has one striping: that of the last component counts. Stripe
/// units are at most ceph_object_size_max, and the object size becomes a multiple of the stripe
/// unit. A stripe count that stands for all OSTs is left out: clients do not know their number, and
/// successive objects lie on all of them in any case. Requests for certain OSTs are left out, too.
[[nodiscard]] std::string ceph_layout_request(const Layout& asked, const Layout& current);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_CEPH_LAYOUT_H_
