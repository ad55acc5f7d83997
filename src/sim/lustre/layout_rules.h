// How Lustre turns requested layouts into layouts of files. Errors carry the errno that Lustre 2.17
// returned for the same request, and no message.
#ifndef NACRE_SIM_LUSTRE_LAYOUT_RULES_H_
#define NACRE_SIM_LUSTRE_LAYOUT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::sim {

/// The number of OSTs, and the striping of files that are created without a layout.
struct StripingDefaults {
  std::int32_t ost_count = 1;
  std::int32_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;
};

/// Decodes the value of the xattr lustre.lov. ERANGE: too short or not a layout. EINVAL: an invalid
/// layout, or one with foreign components, several mirrors or parity.
[[nodiscard]] Result<plan::Layout> layout_in(std::span<const std::byte> blob);

/// The layout of a file for which `asked` was requested, with defaults and component ids filled in
/// and without objects. EINVAL: a stripe size is no multiple of 64 KiB, a component's end is no
/// multiple of its stripe size, an OST does not exist, or components have gaps. Listed OSTs stay in
/// the objects until the component is instantiated.
[[nodiscard]] Result<plan::Layout> layout_for_file(plan::Layout asked,
                                                   const StripingDefaults& defaults);

/// Appends the components of `more` to a composite layout (xattr lustre.lov.add). EINVAL if they do
/// not begin at its end, or if a layout is not composite.
[[nodiscard]] Status add_components(plan::Layout& layout, plan::Layout more,
                                    const StripingDefaults& defaults);
/// Removes components at the end of a composite layout (xattr lustre.lov.del) and returns them.
/// `which` has one component: its id selects a component, or its flags select all components with
/// objects or, with component_negated, all components without. EINVAL if these are none or all of
/// the components, or not the last ones.
[[nodiscard]] Result<std::vector<plan::LayoutComponent>> delete_components(
    plan::Layout& layout, const plan::Layout& which);

/// Assigns OSTs and object numbers to components.
class ObjectAllocator {
 public:
  explicit ObjectAllocator(std::int32_t ost_count) : ost_count_(ost_count) {}
  /// Whether the OST creates no objects from now on.
  void set_refusing(std::int32_t ost, bool refuses);
  /// Assigns one object per stripe to a component without objects, on the listed OSTs or on
  /// consecutive ones. These start at the requested first OST, or after the last OST of the
  /// previous component. OSTs that refuse objects are passed over: without an error, a component
  /// gets fewer stripes or another first OST. ENOSPC if all OSTs refuse, EREMOTEIO if a listed one
  /// does.
  [[nodiscard]] Status instantiate(plan::LayoutComponent& component);

 private:
  [[nodiscard]] std::vector<std::int32_t> usable_osts_from(std::int32_t first) const;

  std::int32_t ost_count_;
  std::set<std::int32_t> refusing_;
  std::int32_t next_ost_ = 0;
  std::uint32_t next_object_ = 1;
};

/// Instantiates the components that `extent` of the file touches, and increments the generation of
/// a composite layout for each. Returns whether there were any. ENODATA if the layout ends before
/// the extent does, or the error of the allocator.
[[nodiscard]] Result<bool> instantiate(plan::Layout& layout, const Extent& extent,
                                       ObjectAllocator& allocator);

}  // namespace nacre::sim

#endif  // NACRE_SIM_LUSTRE_LAYOUT_RULES_H_
