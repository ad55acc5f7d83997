#include "file/hints.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include <fnmatch.h>

#include "collective/group.h"
#include "file/config_file.h"

namespace nacre::file {
namespace {

/// A pattern with a slash is of the whole path, else of the file's name.
bool matches(const std::string& glob, const std::string& path) {
  const bool whole = glob.find('/') != std::string::npos;
  const std::size_t slash = path.rfind('/');
  const std::string name = whole || slash == std::string::npos ? path : path.substr(slash + 1);
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

Error located(const Error& error, const std::string& where) {
  return Error{error.error_class, error.system_errno, where + ": " + error.message};
}

Status set_checked(Hints& hints, const std::string& name, const std::string& value,
                   const std::string& where) {
  const HintRow* row = find_hint(name);
  if (row == nullptr) {
    return Error{ErrorClass::info_value, 0,
                 where + ": there is no hint \"" + name + "\" (`nacre hints` lists them)"};
  }
  Result<std::string> checked = checked_value(*row, value);
  if (!checked) return located(checked.error(), where);
  hints.set(name, *std::move(checked));
  return {};
}

Status take_config(Hints& hints, const std::string& config_path, const std::string& path) {
  const Result<std::vector<ConfigEntry>> entries = read_config(config_path);
  if (!entries) return entries.error();
  for (const ConfigEntry& entry : *entries) {
    if (!entry.glob.empty() && !matches(entry.glob, path)) continue;
    if (Status set = set_checked(hints, entry.name, entry.value, config_path); !set) return set;
  }
  return {};
}

std::string user_config_path(const Environment& environment) {
  if (const auto path = environment("NACRE_CONFIG")) return *path;
  if (const auto base = environment("XDG_CONFIG_HOME"); base && !base->empty()) {
    return *base + "/nacre/config.toml";
  }
  if (const auto home = environment("HOME")) return *home + "/.config/nacre/config.toml";
  return {};
}

Status take_variables(Hints& hints, const Environment& environment) {
  for (const HintRow& row : hint_table()) {
    const std::string variable = environment_name(row.name);
    const auto value = environment(variable);
    if (!value) continue;
    if (Status set = set_checked(hints, std::string(row.name), *value, "variable " + variable);
        !set) {
      return set;
    }
  }
  return {};
}

/// NACRE_HINTS, in the grammar of Cray's MPICH_MPIIO_HINTS.
Status take_hints_variable(Hints& hints, const Environment& environment, const std::string& path) {
  const std::string text = environment("NACRE_HINTS").value_or("");
  for (const std::string& rule : split(text, ',')) {
    const std::vector<std::string> parts = split(rule, ':');
    if (parts.empty()) continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::size_t equals = parts[i].find('=');
      if (equals == std::string::npos) {
        return Error{ErrorClass::info_value, 0,
                     "variable NACRE_HINTS: \"" + parts[i] +
                         "\" is not of the form key=value (glob:key=value:key=value,glob2:...)"};
      }
      if (!matches(parts[0], path)) continue;
      Status set = set_checked(hints, parts[i].substr(0, equals), parts[i].substr(equals + 1),
                               "variable NACRE_HINTS");
      if (!set) return set;
    }
  }
  return {};
}

bool any_matches(const Environment& environment, const char* variable, const std::string& path) {
  return std::ranges::any_of(split(environment(variable).value_or(""), ','),
                             [&](const std::string& glob) { return matches(glob, path); });
}

void take_switches(Hints& hints, const Environment& environment, const std::string& path) {
  const bool included =
      !environment("NACRE_INCLUDE") || any_matches(environment, "NACRE_INCLUDE", path);
  if (!included || any_matches(environment, "NACRE_EXCLUDE", path)) {
    hints.set("nacre_enable", "false");
  }
  if (const auto disable = environment("NACRE_DISABLE"); disable && *disable != "0") {
    hints.set("nacre_enable", "false");
  }
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

void Hints::set(std::string_view name, std::string value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

std::string Hints::get(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const HintRow* row = find_hint(name);
  return row == nullptr ? "" : std::string(row->default_value);
}

InfoPairs Hints::effective() const {
  InfoPairs pairs;
  for (const HintRow& row : hint_table()) {
    std::string value = get(row.name);
    if (!value.empty()) pairs.emplace_back(row.name, std::move(value));
  }
  return pairs;
}

void Hints::take(const InfoPairs& pairs) {
  for (const auto& [name, value] : pairs) {
    const HintRow* row = find_hint(name);
    if (row == nullptr) continue;
    if (Result<std::string> checked = checked_value(*row, value)) set(name, *std::move(checked));
  }
}

bool Hints::bypass() const { return is("nacre_enable", "false"); }

Coherence Hints::coherence() const {
  if (is("nacre_coherence", "trusted")) return Coherence::trusted;
  if (is("nacre_coherence", "locked")) return Coherence::locked;
  return Coherence::automatic;
}

unsigned Hints::permissions() const {
  const std::string text = get("file_perm");
  char* end = nullptr;
  const unsigned long octal = std::strtoul(text.c_str(), &end, 8);
  return text.empty() || *end != '\0' || octal > 07777 ? 0666U : static_cast<unsigned>(octal);
}

AccessSettings Hints::access_settings() const {
  return {coherence(), independent(), collective("romio_cb_read"), collective("romio_cb_write")};
}

plan::CollectiveSettings Hints::collective(std::string_view switch_name) const {
  plan::CollectiveSettings settings;
  if (is("collective_buffering", "false") || is(switch_name, "disable")) {
    settings.algorithm = plan::Algorithm::direct;
  }
  if (is("nacre_algorithm", "direct")) settings.algorithm = plan::Algorithm::direct;
  if (is("nacre_algorithm", "two_phase")) settings.algorithm = plan::Algorithm::two_phase;
  settings.aggregator_count =
      static_cast<std::int32_t>(std::min<std::int64_t>(number("cb_nodes"), INT32_MAX));
  settings.cycle_bytes = number("cb_buffer_size");
  return settings;
}

collective::IndependentSettings Hints::independent() const {
  collective::IndependentSettings settings;
  settings.read_buffer_bytes = number("ind_rd_buffer_size");
  settings.write_buffer_bytes = number("ind_wr_buffer_size");
  settings.read_sieving = !is("romio_ds_read", "disable");
  settings.write_sieving = is("nacre_sole_writer", "true") && !is("romio_ds_write", "disable");
  return settings;
}

/// Name and value of each, both with a 0 behind.
std::vector<std::byte> Hints::serialized() const {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](const std::string& text) {
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    bytes.push_back(std::byte{0});
  };
  for (const auto& [name, value] : values_) {
    append(name);
    append(value);
  }
  return bytes;
}

Hints Hints::deserialized(const std::vector<std::byte>& bytes) {
  std::vector<std::string> words;
  std::string word;
  for (const std::byte b : bytes) {
    if (b != std::byte{0}) {
      word += static_cast<char>(b);
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  Hints hints;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) hints.set(words[i], words[i + 1]);
  return hints;
}

std::int64_t Hints::number(std::string_view name) const {
  return std::strtoll(get(name).c_str(), nullptr, 10);
}

bool Hints::is(std::string_view name, std::string_view value) const { return get(name) == value; }

Result<Hints> resolve_hints(const std::string& path, const InfoPairs& info_pairs,
                            const Environment& environment) {
  Hints hints;
  const std::string system_path =
      environment("NACRE_SYSTEM_CONFIG").value_or("/etc/nacre/config.toml");
  for (const std::string& config : {system_path, user_config_path(environment)}) {
    if (config.empty()) continue;
    if (Status taken = take_config(hints, config, path); !taken) return std::move(taken).error();
  }
  if (Status taken = take_variables(hints, environment); !taken) return std::move(taken).error();
  if (Status taken = take_hints_variable(hints, environment, path); !taken) {
    return std::move(taken).error();
  }
  hints.take(info_pairs);
  take_switches(hints, environment, path);
  return hints;
}

collective::Task<Result<Hints>> agree_hints(collective::Transport& transport, std::string path,
                                            InfoPairs info_pairs) {
  Status status;
  std::vector<std::byte> bytes;
  if (transport.rank() == 0) {
    Result<Hints> resolved = resolve_hints(path, info_pairs);
    if (resolved) {
      bytes = resolved->serialized();
    } else {
      status = std::move(resolved).error();
    }
  }
  auto agreement = collective::agree(transport, std::move(status));
  Status agreed = co_await agreement;
  if (!agreed) co_return std::move(agreed).error();
  auto spreading = collective::broadcast_sized(transport, bytes, 0);
  co_await spreading;
  co_return Hints::deserialized(bytes);
}

}  // namespace nacre::file
