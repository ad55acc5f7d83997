// Whole numbers in text.
#ifndef NACRE_BASE_PARSE_NUMBER_H_
#define NACRE_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <concepts>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/checked_cast.h"

namespace nacre {

/// A number and what stands behind it.
template <std::integral T>
struct LeadingNumber {
  T value = 0;
  std::string_view rest;
};

/// The number that `text` begins with; nothing where it begins with none, or one too large for T.
template <std::integral T>
[[nodiscard]] std::optional<LeadingNumber<T>> parse_leading_number(std::string_view text,
                                                                   int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{}) return std::nullopt;
  return LeadingNumber<T>{value, {stop, end}};
}

/// `text` as a number, all of it.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) {
  const auto number = parse_leading_number<T>(text, base);
  if (!number || !number->rest.empty()) return std::nullopt;
  return number->value;
}

/// `text` as a number with or without one of the units k, m, g and t, in either case: powers of
/// 1024.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_scaled_number(std::string_view text) {
  constexpr std::string_view units = "kmgt";
  const auto number = parse_leading_number<T>(text);
  if (!number) return std::nullopt;
  if (number->rest.empty()) return number->value;
  constexpr char lower_case = 0x20;
  const auto power = units.find(static_cast<char>(number->rest.front() | lower_case));
  if (number->rest.size() > 1 || power == std::string_view::npos) return std::nullopt;
  return checked_multiply(number->value, static_cast<T>(T{1} << (10 * (power + 1))));
}

/// `text` as a number that need not be whole, all of it.
[[nodiscard]] inline std::optional<double> parse_real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') return std::nullopt;
  return value;
}

}  // namespace nacre

#endif  // NACRE_BASE_PARSE_NUMBER_H_
