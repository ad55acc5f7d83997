// NACRE_IOBUF: which files of a process are buffered, and how.
#ifndef NACRE_POSIX_BUFFERING_RULES_H_
#define NACRE_POSIX_BUFFERING_RULES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nacre::posix {

/// How files are buffered whose name matches a pattern.
struct Rule {
  static constexpr std::int64_t size_min = 4096;
  static constexpr std::int64_t size_max = std::int64_t{1} << 30;
  static constexpr int count_max = 64;

  std::string_view pattern;     ///< of the whole path if it has a slash, otherwise of the file name
  std::int64_t size = 4 << 20;  ///< bytes of a buffer; a multiple of 4096
  int count = 4;                ///< buffers of a file that wait to be written
  int prefetch = 1;             ///< buffers of a file that are read ahead of the program
};

/// The rules in the order in which they stand; the first that matches a file holds.
class Rules {
 public:
  static constexpr std::size_t count_max = 32;

  /// Reads `text`: PATTERN[:KEY=VALUE...][,PATTERN...]. `text` must outlive the rules. False if it
  /// is wrong: then there are no rules, and problem() says what is wrong.
  bool parse(std::string_view text);
  [[nodiscard]] std::string_view problem() const { return {problem_.data(), problem_bytes_}; }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  /// Null if the file is not to be buffered. `path` ends with a zero.
  [[nodiscard]] const Rule* find(const char* path) const;

 private:
  bool parse_rule(std::string_view text);
  bool parse_setting(std::string_view text, Rule& rule);
  bool refuse(std::string_view what, std::string_view expected);

  std::array<Rule, count_max> rules_;
  std::size_t count_ = 0;
  std::array<char, 256> problem_{};
  std::size_t problem_bytes_ = 0;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_RULES_H_
