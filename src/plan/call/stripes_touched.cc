#include "plan/call/stripes_touched.h"

#include <algorithm>
#include <limits>

namespace nacre::plan {
namespace {

constexpr std::int64_t slots_kept = std::numeric_limits<SlotSet>::digits;
constexpr std::int64_t page_bytes = 4096;
/// Runs that are looked at.
constexpr int patience = 256;

class Scan {
 public:
  explicit Scan(const StripedRegion& region)
      : stripe_size_(region.stripe_size),
        slots_(region.slot_count()),
        all_(slots_ >= slots_kept ? ~SlotSet{0} : (SlotSet{1} << slots_) - 1) {}

  [[nodiscard]] bool is_done() const {
    return steps_ == patience || (touched_.slots == all_ && !touched_.whole_pages);
  }

  void add(const RunSeries& series) {
    const std::int64_t stride = series.count > 1 ? series.stride : 0;
    touched_.whole_pages = touched_.whole_pages && series.offset % page_bytes == 0 &&
                           series.length % page_bytes == 0 && stride % page_bytes == 0;
    if (stride >= 0 && stride <= stripe_size_) {
      add_run({series.offset, (series.count - 1) * stride + series.length});
      return;
    }
    // A stride of whole stripes returns to the same slots.
    const std::int64_t count =
        stride % stripe_size_ == 0 ? std::min(series.count, slots_) : series.count;
    for (std::int64_t i = 0; i < count && !is_done(); ++i) {
      add_run({series.offset + i * stride, series.length});
    }
  }

  [[nodiscard]] StripesTouched take() const {
    return steps_ == patience ? StripesTouched{all_, false} : touched_;
  }

 private:
  void add_run(const Extent& run) {
    ++steps_;
    const std::int64_t first = run.offset / stripe_size_;
    const std::int64_t last = (run.end() - 1) / stripe_size_;
    if (last - first + 1 >= std::min(slots_, slots_kept)) {
      touched_.slots = all_;
      return;
    }
    for (std::int64_t stripe = first; stripe <= last; ++stripe) {
      touched_.slots |= SlotSet{1} << (stripe % slots_ % slots_kept);
    }
  }

  std::int64_t stripe_size_;
  std::int64_t slots_;
  SlotSet all_;
  StripesTouched touched_;
  int steps_ = 0;
};

}  // namespace

StripesTouched stripes_touched(const FileAccess& access, const StripeMap& stripes) {
  Scan scan(stripes.main_region(bounds(access)));
  RunCursor cursor(access.view, access.first_byte, access.byte_count);
  for (RunRows rows = cursor.next_rows(); rows.rows > 0; rows = cursor.next_rows()) {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      if (scan.is_done()) return scan.take();
      RunSeries row = rows.row;
      row.offset += i * rows.row_stride;
      scan.add(row);
    }
  }
  return scan.take();
}

}  // namespace nacre::plan
