#include "file/hints/hint_sources.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/split.h"
#include "store/system/text_file.h"

namespace nacre::file {
namespace {

constexpr std::string_view rule_grammar =
    "; expected glob:key=value:key=value,glob2:key=value; for all files: *:cb_nodes=8";

Error config_error(const std::string& path, const toml::source_region& where,
                   const std::string& what) {
  return Error{ErrorClass::info_value, 0,
               path + ":" + std::to_string(where.begin.line) + ": " + what};
}

std::optional<std::string> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return std::nullopt;
}

Status append_table(const toml::node& node, const std::string& glob, const std::string& path,
                    std::vector<HintEntry>& entries) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return config_error(path, node.source(), "expected a table of hints");
  for (const auto& [key, value] : *table) {
    std::optional<std::string> text = value_of(value);
    if (!text) {
      return config_error(
          path, value.source(),
          "hint " + std::string(key.str()) + " takes a string, a whole number, true or false");
    }
    const auto line = static_cast<int>(key.source().begin.line);
    entries.push_back({glob, std::string(key.str()), *std::move(text), line});
  }
  return {};
}

Status append_files(const toml::node& node, const std::string& path,
                    std::vector<HintEntry>& entries) {
  const toml::table* files = node.as_table();
  if (files == nullptr) {
    return config_error(path, node.source(), "expected tables of the form [files.\"*.nc\"]");
  }
  for (const auto& [glob, table] : *files) {
    if (Status appended = append_table(table, std::string(glob.str()), path, entries); !appended) {
      return appended;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<HintEntry>> parse_config(const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return config_error(path, parsed.error().source(), std::string(parsed.error().description()));
  }
  std::vector<HintEntry> entries;
  if (const toml::node* hints = parsed.table().get("hints")) {
    if (Status appended = append_table(*hints, "", path, entries); !appended) {
      return std::move(appended).error();
    }
  }
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() == "hints") continue;
    if (key.str() != "files") {
      return config_error(path, node.source(),
                          "unknown section \"" + std::string(key.str()) +
                              "\"; expected [hints] or [files.\"GLOB\"]");
    }
    if (Status appended = append_files(node, path, entries); !appended)
      return std::move(appended).error();
  }
  // toml++ sorts tables by name.
  std::ranges::sort(entries, [](const HintEntry& a, const HintEntry& b) {
    if (a.glob.empty() != b.glob.empty()) return a.glob.empty();
    return a.line < b.line;
  });
  return entries;
}

Result<std::vector<HintEntry>> read_config(const std::string& path) {
  const Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return text.error();
  if (!text->has_value()) return std::vector<HintEntry>();
  return parse_config(**text, path);
}

Result<std::vector<HintEntry>> parse_hint_rules(const std::string& text) {
  std::vector<HintEntry> found;
  for (const std::string_view rule : split_filled(text, ',')) {
    const std::vector<std::string_view> parts = split_filled(rule, ':');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string part(parts[i]);
      const std::size_t equals = part.find('=');
      if ((i == 0) != (equals == std::string::npos)) {
        return Error{ErrorClass::info_value, 0,
                     "\"" + part + "\" is not " +
                         (i == 0 ? "a pattern of file names" : "key=value") +
                         std::string(rule_grammar)};
      }
      if (i == 0) continue;
      found.push_back({std::string(parts[0]), part.substr(0, equals), part.substr(equals + 1)});
    }
    if (parts.size() < 2) {
      return Error{ErrorClass::info_value, 0,
                   "\"" + std::string(rule) + "\" sets no hint" + std::string(rule_grammar)};
    }
  }
  return found;
}

std::vector<HintEntry> parse_romio_hints(const std::string& text) {
  std::vector<HintEntry> found;
  int line = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++line;
    std::istringstream words{std::string(whole.substr(0, whole.find('#')))};
    std::string key;
    std::string value;
    std::string more;
    const bool is_hint = words >> key >> value && !(words >> more);
    const bool is_first = std::ranges::find(found, key, &HintEntry::name) == found.end();
    if (is_hint && is_first) found.push_back({"", key, value, line});
  }
  return found;
}

}  // namespace nacre::file
