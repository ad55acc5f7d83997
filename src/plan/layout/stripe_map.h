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

/// An OST that is not known: the file system chooses it at the first write.
inline constexpr std::int32_t unknown_ost = -1;
/// Not an OST but the metadata target.
inline constexpr std::int32_t on_mdt = -2;

/// How many stripes a file gets that asks for such ones where there are `ost_count` OSTs: its count
/// may stand for all of them, or for several on each, or be more than there are.
[[nodiscard]] std::int32_t stripe_count_over(const Striping& striping, std::int32_t ost_count);

/// A range of the file whose stripes go round the same slots. Stripes are counted from the
/// beginning of the file, not of the range.
struct StripedRegion {
  Extent extent;                   ///< ends at layout_end_of_file, or where the next one begins
  std::int64_t stripe_size = 1;    ///< bytes
  std::vector<std::int32_t> osts;  ///< by slot; at least one

  [[nodiscard]] std::int32_t slot_count() const { return static_cast<std::int32_t>(osts.size()); }
  /// Bytes of the stripes of all slots.
  [[nodiscard]] std::int64_t row_bytes() const { return stripe_size * slot_count(); }
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
  /// `ost_count`: of the file system, for counts that stand for all OSTs. Of mirrors, one that is
  /// in sync. Error: released and foreign ones, which have no data here, and those that contradict
  /// themselves.
  [[nodiscard]] static Result<StripeMap> of(const Layout& layout, std::int32_t ost_count);

  /// In order, without gaps, from the beginning of the file on; the last need not reach its end.
  [[nodiscard]] std::span<const StripedRegion> regions() const { return regions_; }
  /// The region that holds most of `bytes`: a small head before them does not decide how they are
  /// dealt to aggregators.
  [[nodiscard]] const StripedRegion& main_region(const Extent& bytes) const;
  /// Nothing behind the last region. offset >= 0.
  [[nodiscard]] std::optional<StripePlace> place_of(std::int64_t offset) const;
  /// Whether the file system has chosen the OSTs of all of `extent`; those of a component it
  /// chooses when that is first written to.
  [[nodiscard]] bool knows_osts(const Extent& extent) const;
  /// The inverse of place_of().
  [[nodiscard]] std::int64_t offset_of(const StripePlace& place) const;
  /// The part of the slot's object that holds its bytes of `file`, which lies in the region.
  [[nodiscard]] Extent object_extent(std::size_t region, std::int32_t slot,
                                     const Extent& file) const;

 private:
  std::vector<StripedRegion> regions_;
};

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_STRIPE_MAP_H_
