// Allocation of file space that signals interrupt.
#ifndef NACRE_STORE_SYSTEM_ALLOCATE_H_
#define NACRE_STORE_SYSTEM_ALLOCATE_H_

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/checked_cast.h"

namespace nacre::store {

/// Allocates the first `size` bytes of a file by `allocate(offset, length)`, which returns 0 or an
/// errno. Returns 0 or an errno, never EINTR. On tmpfs a signal undoes a whole call, and the next
/// signal of a profiler comes before a long call ends. After a signal, the calls are therefore
/// shorter. If one of them fails, the bytes before it stay allocated.
template <class Allocate>
int allocate_in_pieces(std::int64_t size, Allocate allocate) {
  constexpr std::int64_t piece_min = 1 << 20;
  std::int64_t piece = size;
  for (std::int64_t done = 0; done < size;) {
    const std::int64_t length = std::min(piece, size - done);
    const int failure = allocate(done, length);
    if (failure == 0) {
      done += length;
      piece = std::min(size, saturating_multiply<std::int64_t>(piece, 2));
    } else if (failure == EINTR) {
      piece = std::clamp(length / 2, std::min(piece_min, length), length);
    } else {
      return failure;
    }
  }
  return 0;
}

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_ALLOCATE_H_
