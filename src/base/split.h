// Splits text at separators.
#ifndef NACRE_BASE_SPLIT_H_
#define NACRE_BASE_SPLIT_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace nacre {

/// The parts between separators, including empty parts: one more than there are separators. They
/// point into `text`.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The non-empty parts between separators. They point into `text`.
[[nodiscard]] inline std::vector<std::string_view> split_filled(std::string_view text,
                                                                char separator) {
  std::vector<std::string_view> parts = split(text, separator);
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  return parts;
}

}  // namespace nacre

#endif  // NACRE_BASE_SPLIT_H_
