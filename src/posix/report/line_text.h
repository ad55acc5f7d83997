// Text of one line of JSON, in memory of fixed size.
#ifndef NACRE_POSIX_REPORT_LINE_TEXT_H_
#define NACRE_POSIX_REPORT_LINE_TEXT_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace nacre::posix {

/// Appends to `room`. What no longer fits is left out, and is_complete() is false from then on.
class LineText {
 public:
  explicit LineText(std::span<char> room) : room_(room) {}

  LineText& add(std::string_view text) {
    if (text.size() > room_.size() - used_) {
      is_complete_ = false;
      return *this;
    }
    std::memcpy(room_.data() + used_, text.data(), text.size());
    used_ += text.size();
    return *this;
  }

  LineText& add(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return add({digits, static_cast<std::size_t>(end - digits)});
  }

  /// Nanoseconds as seconds with six decimals.
  LineText& add_seconds(std::int64_t nanoseconds) {
    constexpr std::int64_t million = 1'000'000;
    const std::int64_t microseconds = nanoseconds / 1000;
    add(microseconds / million).add(".");
    char digits[24];
    std::to_chars(digits, digits + sizeof digits, million + microseconds % million);
    return add({digits + 1, 6});
  }

  /// As a JSON string, in quotes.
  LineText& add_string(std::string_view text) {
    add("\"");
    for (const char character : text) add_character(character);
    return add("\"");
  }

  /// What an errno means.
  LineText& add_error(int error);

  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] std::string_view text() const { return {room_.data(), used_}; }

 private:
  void add_character(char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      add("\\").add({&character, 1});
    } else if (code < 0x20) {
      add("\\u00").add(digits.substr(code >> 4, 1)).add(digits.substr(code & 15, 1));
    } else {
      add({&character, 1});
    }
  }

  std::span<char> room_;
  std::size_t used_ = 0;
  bool is_complete_ = true;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_REPORT_LINE_TEXT_H_
