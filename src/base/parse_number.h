// Whole numbers in text.
#ifndef NACRE_BASE_PARSE_NUMBER_H_
#define NACRE_BASE_PARSE_NUMBER_H_

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

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

}  // namespace nacre

#endif  // NACRE_BASE_PARSE_NUMBER_H_
