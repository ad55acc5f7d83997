#include "file/hints/hint_rules.h"

#include <sstream>
#include <string_view>

#include "base/split.h"

namespace nacre::file {
namespace {

constexpr std::string_view grammar = "; expected glob:key=value:key=value,glob2:key=value";

}  // namespace

Result<std::vector<ConfigEntry>> parse_hint_rules(const std::string& text) {
  std::vector<ConfigEntry> found;
  for (const std::string_view rule : split_filled(text, ',')) {
    const std::vector<std::string_view> parts = split_filled(rule, ':');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string part(parts[i]);
      const std::size_t equals = part.find('=');
      if ((i == 0) != (equals == std::string::npos)) {
        return Error{ErrorClass::info_value, 0,
                     "\"" + part + "\" is not " +
                         (i == 0 ? "a pattern of file names" : "key=value") + std::string(grammar)};
      }
      if (i == 0) continue;
      found.push_back({std::string(parts[0]), part.substr(0, equals), part.substr(equals + 1)});
    }
    if (parts.size() < 2) {
      return Error{ErrorClass::info_value, 0,
                   "\"" + std::string(rule) + "\" sets no hint" + std::string(grammar)};
    }
  }
  return found;
}

std::vector<ConfigEntry> parse_romio_hints(const std::string& text) {
  std::vector<ConfigEntry> found;
  int line = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++line;
    std::istringstream words{std::string(whole.substr(0, whole.find('#')))};
    std::string key;
    std::string value;
    std::string more;
    if (words >> key >> value && !(words >> more)) found.push_back({"", key, value, line});
  }
  return found;
}

}  // namespace nacre::file
