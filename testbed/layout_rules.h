// What a Lustre makes of the layouts that it is asked for. Errors carry the errno that a real one
// gives (seen on 2.17); their messages are empty.
#ifndef NACRE_TESTBED_LAYOUT_RULES_H_
#define NACRE_TESTBED_LAYOUT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/extent.h"
#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::testbed {

/// Of the file system: what it has, and what files get that ask for nothing.
struct StripingDefaults {
  std::int32_t ost_count = 1;
  std::int32_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;
};

/// The layout in a blob that somebody sets as xattr. ERANGE: too short, or no layout at all.
/// EINVAL: one that cannot be.
[[nodiscard]] Result<plan::Layout> layout_in(std::span<const std::byte> blob);

/// The layout that a file gets that asks for `asked`: defaults, all OSTs and component ids filled
/// in; no objects yet. EINVAL: sizes that are no multiple of 64 KiB, OSTs that are not there,
/// components with gaps.
[[nodiscard]] Result<plan::Layout> layout_for_file(plan::Layout asked,
                                                   const StripingDefaults& defaults);

/// Puts the components of `more` behind those of a composite file's layout (xattr lustre.lov.add).
/// EINVAL where they do not begin at its end.
[[nodiscard]] Status add_components(plan::Layout& layout, plan::Layout more,
                                    const StripingDefaults& defaults);
/// Takes away components at the end, with their objects (xattr lustre.lov.del), and returns them:
/// the one with the id that the only one of `which` has, or by its flags all that have objects or,
/// with component_negated, all that have none. EINVAL where that is none or leaves none or a gap.
[[nodiscard]] Result<std::vector<plan::LayoutComponent>> delete_components(
    plan::Layout& layout, const plan::Layout& which);

/// Deals OSTs and object numbers to components.
class ObjectAllocator {
 public:
  explicit ObjectAllocator(std::int32_t ost_count) : ost_count_(ost_count) {}
  /// Gives a component its objects, if it has none: one a stripe, on the OSTs from the first one
  /// asked for on, or in turn.
  void instantiate(plan::LayoutComponent& component);

 private:
  std::int32_t ost_count_;
  std::int32_t next_ost_ = 0;
  std::uint32_t next_object_ = 1;
};

/// Instantiates what `extent` of the file touches; whether there was anything. Generations grow
/// with it. ENODATA where no component reaches so far.
[[nodiscard]] Result<bool> instantiate(plan::Layout& layout, const Extent& extent,
                                       ObjectAllocator& allocator);

}  // namespace nacre::testbed

#endif  // NACRE_TESTBED_LAYOUT_RULES_H_
