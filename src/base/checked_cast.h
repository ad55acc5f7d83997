// Integer conversion and arithmetic with overflow checks. Use checked_cast for narrowing
// conversions.
#ifndef NACRE_BASE_CHECKED_CAST_H_
#define NACRE_BASE_CHECKED_CAST_H_

#include <cassert>
#include <concepts>
#include <limits>
#include <optional>
#include <utility>

namespace nacre {

/// `value` as To. It must fit, which is asserted.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr To checked_cast(From value) {
  assert(std::in_range<To>(value));
  return static_cast<To>(value);
}

/// a + b, or nullopt on overflow.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nullopt on overflow.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a + b and a * b for non-negative a and b. On overflow: the largest T.
template <std::integral T>
[[nodiscard]] constexpr T saturating_add(T a, T b) {
  return checked_add(a, b).value_or(std::numeric_limits<T>::max());
}
template <std::integral T>
[[nodiscard]] constexpr T saturating_multiply(T a, T b) {
  return checked_multiply(a, b).value_or(std::numeric_limits<T>::max());
}

}  // namespace nacre

#endif  // NACRE_BASE_CHECKED_CAST_H_
