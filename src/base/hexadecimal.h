// Numbers in names of files and objects.
#ifndef NACRE_BASE_HEXADECIMAL_H_
#define NACRE_BASE_HEXADECIMAL_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace nacre {

/// 16 digits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  std::string text(digits.data(), end);
  return std::string(digits.size() - text.size(), '0') + text;
}

}  // namespace nacre

#endif  // NACRE_BASE_HEXADECIMAL_H_
