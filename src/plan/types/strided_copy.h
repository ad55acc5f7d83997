// Copies of runs of equal length at constant strides.
#ifndef NACRE_PLAN_TYPES_STRIDED_COPY_H_
#define NACRE_PLAN_TYPES_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>

namespace nacre::plan {

/// `offset` bytes from `base`, which may be null if offsets are addresses (MPI_BOTTOM).
template <class Byte>
Byte* at(Byte* base, std::int64_t offset) {
  // Through an integer: adding to a null pointer is undefined, and compilers make use of it.
  const auto address = reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset);
  return reinterpret_cast<Byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// The first run of a series, and the distance from run to run.
template <class Byte>
struct Strided {
  Byte* data;
  std::int64_t stride;
};

/// Copies `count` (> 0) runs of `length` bytes.
void copy_strided(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
                  std::int64_t count);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_STRIDED_COPY_H_
