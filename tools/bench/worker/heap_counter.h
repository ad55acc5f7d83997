#pragma once

#include <cstdint>

namespace nacre::bench {

/// Bytes on the heap of this process: what malloc and its kin have given out, to whichever library.
/// Replaces them, so it is linked only into the program that measures memory to the byte.
struct Heap {
  std::int64_t live = 0;
  /// The most that was live since reset_heap_peak().
  std::int64_t peak = 0;
};
[[nodiscard]] Heap heap();
void reset_heap_peak();

}  // namespace nacre::bench
