// Parsers for numbers.
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

/// The whole of `text` as a number with an optional unit k, m, g or t in upper or lower case
/// (powers of 1024). nullopt on overflow. T must have 64 bits.
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
