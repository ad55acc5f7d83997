// StripeMap: where the bytes of a file lie, from its layout: byte to stripe, slot, OST and byte of
// the object, and back.
#ifndef NACRE_PLAN_LAYOUT_STRIPE_MAP_H_
#define NACRE_PLAN_LAYOUT_STRIPE_MAP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/result.h"
#include "plan/layout/layout.h"

namespace nacre::plan {

/// The file system chooses the OST at the first write.
inline constexpr std::int32_t unknown_ost = -1;
/// The metadata target, which is no OST.
inline constexpr std::int32_t on_mdt = -2;
/// The file system never names the OSTs.
inline constexpr std::int32_t unnamed_ost = -3;

/// The number of stripes that a file with this striping gets on `ost_count` OSTs. The stripe count
/// may stand for all OSTs, or for several stripes per OST, or exceed the number of OSTs.
[[nodiscard]] std::int32_t stripe_count_over(const Striping& striping, std::int32_t ost_count);

/// A range of the file whose stripes go to the same slots in turn. Stripes are counted from the
/// beginning of the file, not of the range.
struct StripedRegion {
  Extent extent;                   ///< ends at layout_end_of_file or where the next region begins
  std::int64_t stripe_size = 1;    ///< bytes
  std::vector<std::int32_t> osts;  ///< by slot; at least one
  std::int64_t object_size = 0;    ///< Striping::object_size

  [[nodiscard]] std::int32_t slot_count() const { return static_cast<std::int32_t>(osts.size()); }
  /// Bytes of the stripes of all slots.
  [[nodiscard]] std::int64_t row_bytes() const { return stripe_size * slot_count(); }
  /// Writers that divide the file at multiples of this share few objects or none: a stripe; if
  /// objects end (object_size), the bytes of the objects of all slots, or of a row if the objects
  /// are together longer than 32 MiB, or of a stripe if a row is longer, too.
  [[nodiscard]] std::int64_t unit_bytes() const;
  friend bool operator==(const StripedRegion&, const StripedRegion&) = default;
};

/// Where a byte of the file lies.
struct StripePlace {
  std::size_t region = 0;
  std::int32_t slot = 0;
  std::int64_t object_offset = 0;  ///< in the object of that slot

  friend bool operator==(const StripePlace&, const StripePlace&) = default;
};

class StripeMap {
 public:
  /// `ost_count` is the file system's, for stripe counts that stand for all OSTs. Uses a mirror
  /// that is in sync. Error: the layout is released or foreign (it has no data here), or
  /// contradictory.
  [[nodiscard]] static Result<StripeMap> of(const Layout& layout, std::int32_t ost_count);

  /// In order, without gaps, from the beginning of the file. The last may end before the file.
  [[nodiscard]] std::span<const StripedRegion> regions() const { return regions_; }
  /// The region that holds most of `bytes`: a small first component does not decide how aggregators
  /// divide them.
  [[nodiscard]] const StripedRegion& main_region(const Extent& bytes) const;
  /// Nothing if `offset` (>= 0) lies behind the last region.
  [[nodiscard]] std::optional<StripePlace> place_of(std::int64_t offset) const;
  /// Whether slots stand for OSTs. If not, objects end, and a slot goes on on another OST: domains
  /// by slot gain nothing.
  [[nodiscard]] bool names_osts() const;
  /// Whether the file system has chosen all OSTs of `extent`. It chooses the OSTs of a component at
  /// the first write to it. True if it never names them.
  [[nodiscard]] bool knows_osts(const Extent& extent) const;
  /// The part of the slot's object that holds bytes of `file`, an extent inside the region.
  [[nodiscard]] Extent object_extent(std::size_t region, std::int32_t slot,
                                     const Extent& file) const;

 private:
  std::vector<StripedRegion> regions_;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_STRIPE_MAP_H_
