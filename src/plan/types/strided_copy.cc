#include "plan/types/strided_copy.h"

#include <cstring>

namespace nacre::plan {
namespace {

/// The compiler knows the length and emits a load and a store instead of a call.
template <std::size_t length>
void copy_fixed(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.data + i * to.stride, from.data + i * from.stride, length);
  }
}

/// Runs of `half` to 2 * `half` bytes: two copies of known length, which may overlap.
template <std::size_t half>
void copy_halves(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
                 std::int64_t count) {
  const std::int64_t second = length - static_cast<std::int64_t>(half);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* source = from.data + i * from.stride;
    std::byte* target = to.data + i * to.stride;
    std::memcpy(target, source, half);
    std::memcpy(target + second, source + second, half);
  }
}

void copy_any(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
              std::int64_t count) {
  if (length >= 32 && length <= 64) return copy_halves<32>(from, to, length, count);
  if (length >= 16 && length <= 32) return copy_halves<16>(from, to, length, count);
  if (length >= 8 && length <= 16) return copy_halves<8>(from, to, length, count);
  if (length >= 4 && length <= 8) return copy_halves<4>(from, to, length, count);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to.data + i * to.stride, from.data + i * from.stride,
                static_cast<std::size_t>(length));
  }
}

}  // namespace

// Two or more runs of the length of a basic type have a loop of their own.
void copy_strided(Strided<const std::byte> from, Strided<std::byte> to, std::int64_t length,
                  std::int64_t count) {
  if (count == 1) return copy_any(from, to, length, 1);
  switch (length) {
    case 1:
      return copy_fixed<1>(from, to, count);
    case 2:
      return copy_fixed<2>(from, to, count);
    case 4:
      return copy_fixed<4>(from, to, count);
    case 8:
      return copy_fixed<8>(from, to, count);
    case 16:
      return copy_fixed<16>(from, to, count);
    case 32:
      return copy_fixed<32>(from, to, count);
    default:
      return copy_any(from, to, length, count);
  }
}

}  // namespace nacre::plan
