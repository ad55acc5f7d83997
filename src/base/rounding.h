// Division and multiples of a unit, for what is not negative; units are at least 1.
#ifndef NACRE_BASE_ROUNDING_H_
#define NACRE_BASE_ROUNDING_H_

#include <cstdint>

#include "base/checked_cast.h"

namespace nacre {

/// a / b, rounded up. Cannot overflow.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The least multiple of `unit` from `value` on; `value` itself where that is beyond 64 bits.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return checked_multiply(divide_up(value, unit), unit).value_or(value);
}

/// The greatest multiple of `unit` up to `value`.
[[nodiscard]] constexpr std::int64_t round_down(std::int64_t value, std::int64_t unit) {
  return value - value % unit;
}

}  // namespace nacre

#endif  // NACRE_BASE_ROUNDING_H_
