// Hexadecimal numbers, for the names of files and objects, and bytes.
#ifndef NACRE_BASE_HEXADECIMAL_H_
#define NACRE_BASE_HEXADECIMAL_H_

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
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

/// Two digits for each byte.
[[nodiscard]] inline std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += hexadecimal(std::to_integer<std::uint64_t>(byte)).substr(14);
  }
  return text;
}

}  // namespace nacre

#endif  // NACRE_BASE_HEXADECIMAL_H_
