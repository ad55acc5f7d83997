// Division and rounding to multiples of a unit. Values must not be negative, units at least 1.
#ifndef NACRE_BASE_ROUNDING_H_
#define NACRE_BASE_ROUNDING_H_

#include <cstdint>

#include "base/checked_cast.h"

namespace nacre {

/// a / b, rounded up. Cannot overflow.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The smallest multiple of `unit` that is at least `value`; `value` if that does not fit 64 bits.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return checked_multiply(divide_up(value, unit), unit).value_or(value);
}

/// The largest multiple of `unit` that is at most `value`.
[[nodiscard]] constexpr std::int64_t round_down(std::int64_t value, std::int64_t unit) {
  return value - value % unit;
}

}  // namespace nacre

#endif  // NACRE_BASE_ROUNDING_H_
