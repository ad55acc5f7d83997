// Hexadecimal numbers, for the names of files and objects.
#ifndef NACRE_BASE_HEXADECIMAL_H_
#define NACRE_BASE_HEXADECIMAL_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace nacre {

/// Without leading zeros.
[[nodiscard]] inline std::string short_hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

/// 16 digits, with leading zeros.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
  const std::string text = short_hexadecimal(number);
  return std::string(16 - text.size(), '0') + text;
}

}  // namespace nacre

#endif  // NACRE_BASE_HEXADECIMAL_H_
