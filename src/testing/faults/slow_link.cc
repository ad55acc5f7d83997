#include "testing/faults/slow_link.h"

#include <algorithm>

namespace nacre::testing {

SlowLink::Time SlowLink::end_of(Time begin, std::int64_t bytes) {
  free_ = std::max(free_, begin);
  if (bytes_per_second_ > 0) {
    const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
    free_ += std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
  }
  return free_ + latency_;
}

}  // namespace nacre::testing
