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

/// Decimals at the start of a text: `count` of the size 1 / `parts`.
struct Decimals {
  std::int64_t count = 0;
  std::int64_t parts = 1;
};

/// "." and at most 6 digits, which are removed from `text`, or nothing.
Decimals take_decimals(std::string_view& text) {
  Decimals found;
  if (!text.starts_with('.')) return found;
  constexpr std::int64_t parts_max = 1'000'000;
  std::size_t used = 1;
  for (; used < text.size() && text[used] >= '0' && text[used] <= '9'; ++used) {
    if (found.parts == parts_max) return {};
    found = {10 * found.count + (text[used] - '0'), 10 * found.parts};
  }
  text.remove_prefix(found.parts == 1 ? 0 : used);
  return found;
}

/// A number in [least, most], with an optional unit k, m or g, and decimals before a unit: 1.5m.
std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t least,
                                       std::int64_t most) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  const Decimals decimals = take_decimals(text);
  if (!text.empty()) {
    constexpr std::string_view units = "kmg";
    const auto power = units.find(static_cast<char>(text.front() | 0x20));
    if (text.size() != 1 || power == std::string_view::npos) return std::nullopt;
    const std::int64_t smaller = decimals.count << (10 * (power + 1));
    if (smaller % decimals.parts != 0) return std::nullopt;
    number = (number << (10 * (power + 1))) + smaller / decimals.parts;
  } else if (decimals.parts != 1) {
    return std::nullopt;
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
