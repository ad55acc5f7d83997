// Parsers for numbers.
#ifndef NACRE_BASE_PARSE_NUMBER_H_
#define NACRE_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/checked_cast.h"

namespace nacre {

/// A number and the text that follows it.
template <std::integral T>
struct LeadingNumber {
  T value = 0;
  std::string_view rest;
};

/// The number at the start of `text`; nullopt if there is none or it does not fit into T.
template <std::integral T>
[[nodiscard]] std::optional<LeadingNumber<T>> parse_leading_number(std::string_view text,
                                                                   int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{}) return std::nullopt;
  return LeadingNumber<T>{value, {stop, end}};
}

/// The whole of `text` as a number.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) {
  const auto number = parse_leading_number<T>(text, base);
  if (!number || !number->rest.empty()) return std::nullopt;
  return number->value;
}

/// Decimals at the start of `text`, and the text that follows them.
template <std::integral T>
struct LeadingDecimals {
  T count = 0;  ///< of parts of the size 1 / parts
  T parts = 1;
  std::string_view rest;
};

/// "." and at most 6 digits, or nothing; nullopt if a "." has no digits after it, or too many.
template <std::integral T>
[[nodiscard]] std::optional<LeadingDecimals<T>> parse_leading_decimals(std::string_view text) {
  constexpr std::size_t digits_max = 6;
  LeadingDecimals<T> found{0, 1, text};
  if (!text.starts_with('.')) return found;
  found.rest.remove_prefix(1);
  while (!found.rest.empty() && found.rest.front() >= '0' && found.rest.front() <= '9') {
    if (text.size() - found.rest.size() > digits_max) return std::nullopt;
    found.count = 10 * found.count + (found.rest.front() - '0');
    found.parts *= 10;
    found.rest.remove_prefix(1);
  }
  if (found.parts == 1) return std::nullopt;
  return found;
}

/// The whole of `text` as a number with an optional unit k, m, g or t in upper or lower case
/// (powers of 1024), and with decimals before the unit, as in 1.5g. nullopt on overflow, and if it
/// is no whole number. T must have 64 bits.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_scaled_number(std::string_view text) {
  constexpr std::string_view units = "kmgt";
  const auto number = parse_leading_number<T>(text);
  if (!number) return std::nullopt;
  if (number->rest.empty()) return number->value;
  const auto decimals = parse_leading_decimals<T>(number->rest);
  if (!decimals || decimals->rest.size() != 1) return std::nullopt;
  constexpr char lower_case = 0x20;
  const auto power = units.find(static_cast<char>(decimals->rest.front() | lower_case));
  if (power == std::string_view::npos) return std::nullopt;
  const auto unit = static_cast<T>(T{1} << (10 * (power + 1)));
  const T smaller = decimals->count * unit;  // at most 10^6 * 2^40
  if (smaller % decimals->parts != 0 || (smaller != 0 && text.front() == '-')) return std::nullopt;
  const auto larger = checked_multiply(number->value, unit);
  return larger ? checked_add(*larger, smaller / decimals->parts) : std::nullopt;
}

/// The whole of `text` as a floating-point number.
[[nodiscard]] inline std::optional<double> parse_real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') return std::nullopt;
  return value;
}

}  // namespace nacre

#endif  // NACRE_BASE_PARSE_NUMBER_H_
