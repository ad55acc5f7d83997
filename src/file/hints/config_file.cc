#include "file/hints/config_file.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "store/system/text_file.h"

namespace nacre::file {
namespace {

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

Status take_table(const toml::node& node, const std::string& glob, const std::string& path,
                  std::vector<ConfigEntry>& entries) {
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

Status take_files(const toml::node& node, const std::string& path,
                  std::vector<ConfigEntry>& entries) {
  const toml::table* files = node.as_table();
  if (files == nullptr) {
    return config_error(path, node.source(), "expected tables of the form [files.\"*.nc\"]");
  }
  for (const auto& [glob, table] : *files) {
    if (Status taken = take_table(table, std::string(glob.str()), path, entries); !taken) {
      return taken;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ConfigEntry>> parse_config(const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return config_error(path, parsed.error().source(), std::string(parsed.error().description()));
  }
  std::vector<ConfigEntry> entries;
  if (const toml::node* hints = parsed.table().get("hints")) {
    if (Status taken = take_table(*hints, "", path, entries); !taken) {
      return std::move(taken).error();
    }
  }
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() == "hints") continue;
    if (key.str() != "files") {
      return config_error(path, node.source(),
                          "unknown section \"" + std::string(key.str()) +
                              "\"; expected [hints] or [files.\"GLOB\"]");
    }
    if (Status taken = take_files(node, path, entries); !taken) return std::move(taken).error();
  }
  // The parser's tables are sorted by name.
  std::ranges::sort(entries, [](const ConfigEntry& a, const ConfigEntry& b) {
    if (a.glob.empty() != b.glob.empty()) return a.glob.empty();
    return a.line < b.line;
  });
  return entries;
}

Result<std::vector<ConfigEntry>> read_config(const std::string& path) {
  const Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return text.error();
  if (!text->has_value()) return std::vector<ConfigEntry>();
  return parse_config(**text, path);
}

}  // namespace nacre::file
