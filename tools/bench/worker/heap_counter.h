#pragma once

#include <cstdint>

namespace nacre::bench {

/// Bytes on the heap of this process, allocated by any library. This file replaces malloc and its
/// relatives, so only the program that measures memory to the byte links it.
struct Heap {
  std::int64_t live = 0;
  /// Maximum of `live` since reset_heap_peak().
  std::int64_t peak = 0;
};
[[nodiscard]] Heap heap();
void reset_heap_peak();

}  // namespace nacre::bench
