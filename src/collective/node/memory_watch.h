// MemoryWatch: decides when memory that is kept for later calls must be released.
#ifndef NACRE_COLLECTIVE_NODE_MEMORY_WATCH_H_
#define NACRE_COLLECTIVE_NODE_MEMORY_WATCH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// Measures the available memory rarely, so that callers may ask often. One thread at a time.
class MemoryWatch {
 public:
  using Available = std::function<std::int64_t()>;
  /// Measures at most once in `interval`, the first time `interval` from now. `available`: replaces
  /// Transport::available_memory().
  explicit MemoryWatch(Available available = nullptr,
                       std::chrono::nanoseconds interval = std::chrono::seconds(1))
      : available_(std::move(available)),
        interval_(interval.count()),
        next_look_(monotonic_nanoseconds() + interval_) {}

  /// Whether `kept_bytes` are more than a quarter of the available memory. The same share limits
  /// the allocation (store::SharedMemory).
  [[nodiscard]] bool leaves_memory_short(std::int64_t kept_bytes, Transport& transport) {
    const std::int64_t now = monotonic_nanoseconds();
    if (now < next_look_) return false;
    next_look_ = now + interval_;
    return kept_bytes > (available_ ? available_() : transport.available_memory()) / 4;
  }

 private:
  Available available_;
  std::int64_t interval_;
  std::int64_t next_look_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_NODE_MEMORY_WATCH_H_
