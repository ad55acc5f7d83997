#include "posix/buffering/rules.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <fnmatch.h>

namespace nacre::posix {
namespace {

constexpr std::size_t pattern_bytes_max = 255;

/// The text up to `separator`, which is removed from `rest` with it.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

/// A whole number with an optional unit k, m or g, in [least, most].
std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t least,
                                       std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0 || number > most) return std::nullopt;
  if (stop != end) {
    constexpr std::string_view units = "kmg";
    const auto power = units.find(static_cast<char>(*stop | 0x20));
    if (stop + 1 != end || power == std::string_view::npos) return std::nullopt;
    number <<= 10 * (power + 1);
  }
  if (number < least || number > most) return std::nullopt;
  return number;
}

}  // namespace

bool Rules::refuse(std::string_view what, std::string_view expected) {
  problem_bytes_ = 0;
  for (const std::string_view part :
       {std::string_view{"NACRE_IOBUF: \""}, what, std::string_view{"\": expected "}, expected}) {
    const auto size = std::min(part.size(), problem_.size() - problem_bytes_);
    std::memcpy(problem_.data() + problem_bytes_, part.data(), size);
    problem_bytes_ += size;
  }
  count_ = 0;
  return false;
}

bool Rules::parse_setting(std::string_view text, Rule& rule) {
  std::string_view value = text;
  const std::string_view key = take_until(value, '=');
  if (key == "size") {
    const auto size = parse_size(value, Rule::size_min, Rule::size_max);
    if (!size || *size % Rule::size_min != 0)
      return refuse(text, "a multiple of 4k from 4k to 1g, for example size=4m");
    rule.size = *size;
  } else if (key == "count") {
    const auto count = parse_size(value, 1, Rule::count_max);
    if (!count) return refuse(text, "a number from 1 to 64");
    rule.count = static_cast<int>(*count);
  } else if (key == "prefetch") {
    const auto prefetch = parse_size(value, 0, Rule::count_max);
    if (!prefetch) return refuse(text, "a number from 0 to 64");
    rule.prefetch = static_cast<int>(*prefetch);
  } else {
    return refuse(text, "size=BYTES, count=N or prefetch=N");
  }
  return true;
}

bool Rules::parse_rule(std::string_view text) {
  Rule rule;
  rule.pattern = take_until(text, ':');
  if (rule.pattern.empty() || rule.pattern.size() > pattern_bytes_max)
    return refuse(rule.pattern, "a pattern of file names, for example *.log");
  while (!text.empty()) {
    if (!parse_setting(take_until(text, ':'), rule)) return false;
  }
  if (count_ == count_max) return refuse(rule.pattern, "at most 32 patterns");
  rules_[count_++] = rule;
  return true;
}

bool Rules::parse(std::string_view text) {
  count_ = 0;
  problem_bytes_ = 0;
  while (!text.empty()) {
    if (!parse_rule(take_until(text, ','))) return false;
  }
  return true;
}

const Rule* Rules::find(const char* path) const {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  for (std::size_t i = 0; i < count_; ++i) {
    std::array<char, pattern_bytes_max + 1> pattern{};
    std::copy(rules_[i].pattern.begin(), rules_[i].pattern.end(), pattern.begin());
    const bool has_slash = rules_[i].pattern.find('/') != std::string_view::npos;
    if (fnmatch(pattern.data(), has_slash ? path : name, 0) == 0) return &rules_[i];
  }
  return nullptr;
}

}  // namespace nacre::posix
