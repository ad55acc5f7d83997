#include "file/hints/hints.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fnmatch.h>

#include "base/parse_number.h"
#include "base/split.h"
#include "collective/agreement/agreements.h"
#include "file/hints/group_hint.h"
#include "file/hints/hint_sources.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/decide/plan_words.h"
#include "store/system/text_file.h"

namespace nacre::file {
namespace {

/// Matches a pattern with a slash against the whole path, any other pattern against the last part.
bool matches(const std::string& glob, const std::string& path) {
  const bool whole = glob.find('/') != std::string::npos;
  const std::size_t slash = path.rfind('/');
  const std::string name = whole || slash == std::string::npos ? path : path.substr(slash + 1);
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

Error located(const Error& error, const std::string& where) {
  return Error{error.error_class, error.system_errno, where + ": " + error.message};
}

/// A source of hints.
struct Layer {
  HintSource source;
  std::string where;  ///< for messages
};

/// On a name that is no hint. `likely`: what it may mean, or nullptr.
std::string advice_on_unknown(const HintRow* likely) {
  return likely == nullptr ? "`nacre hints` lists all hints"
                           : "did you mean " + std::string(likely->name) + "?";
}

/// Checks hint `name` and sets it, unless `hints` is null: the hints of other files are checked
/// too, so that a mistake is found at the first open and not at the first match.
Status set_checked(Hints* hints, const std::string& name, const std::string& value,
                   const Layer& layer) {
  const HintRow* row = find_hint(name);
  if (row == nullptr) {
    return Error{
        ErrorClass::info_value, 0,
        layer.where + ": unknown hint \"" + name + "\"; " + advice_on_unknown(likely_hint(name))};
  }
  Result<std::string> checked = checked_value(*row, value);
  if (!checked) return located(checked.error(), layer.where);
  if (hints != nullptr) hints->set(name, *std::move(checked), layer.source);
  return {};
}

Status apply_config(Hints& hints, const Layer& layer, const std::string& path) {
  const Result<std::vector<HintEntry>> entries = read_config(layer.where);
  if (!entries) return entries.error();
  for (const HintEntry& entry : *entries) {
    const bool applies = entry.glob.empty() || matches(entry.glob, path);
    const Layer line{layer.source, layer.where + ":" + std::to_string(entry.line)};
    Status set = set_checked(applies ? &hints : nullptr, entry.name, entry.value, line);
    if (!set) return set;
  }
  return {};
}

std::string user_config_path(const Environment& environment) {
  if (const auto path = environment("NACRE_CONFIG")) return *path;
  const std::string folder = user_config_folder(environment);
  return folder.empty() ? folder : folder + "/config.toml";
}

/// Home directories may be out of reach on compute nodes, for example without a Kerberos ticket.
/// That is no error unless the user names the file.
bool is_out_of_reach(const Layer& file, const Error& error, const Environment& environment) {
  return file.source == HintSource::user_file && error.system_errno == EACCES &&
         !environment("NACRE_CONFIG");
}

Status apply_variables(Hints& hints, const Environment& environment) {
  for (const HintRow& row : hint_table()) {
    if (row.kind == HintKind::output) continue;
    const std::string variable = environment_name(row.name);
    const auto value = environment(variable);
    if (!value) continue;
    const Layer layer{HintSource::environment, "variable " + variable};
    if (Status set = set_checked(&hints, std::string(row.name), *value, layer); !set) return set;
  }
  return {};
}

/// NACRE_HINTS, in the grammar of Cray's MPICH_MPIIO_HINTS.
Status apply_hints_variable(Hints& hints, const Environment& environment, const std::string& path) {
  const Layer layer{HintSource::environment, "variable NACRE_HINTS"};
  const auto rules = parse_hint_rules(environment("NACRE_HINTS").value_or(""));
  if (!rules) return located(rules.error(), layer.where);
  for (const HintEntry& rule : *rules) {
    Hints* const target = matches(rule.glob, path) ? &hints : nullptr;
    if (Status set = set_checked(target, rule.name, rule.value, layer); !set) return set;
  }
  return {};
}

/// Applies hints that users have set for other MPI-IO libraries. As in a program's info, unknown
/// and invalid hints are no error.
void apply_foreign_hints(Hints& hints, const Environment& environment, const std::string& path) {
  std::vector<HintEntry> found;
  if (const auto name = environment("ROMIO_HINTS")) {
    const auto text = store::read_text_file(*name);
    if (text && *text) {
      found = parse_romio_hints(**text);
    } else {
      hints.note("variable ROMIO_HINTS: cannot read the file \"" + *name + "\"");
    }
  }
  if (const auto rules = parse_hint_rules(environment("MPICH_MPIIO_HINTS").value_or(""))) {
    found.insert(found.end(), rules->begin(), rules->end());
  } else {
    hints.note("variable MPICH_MPIIO_HINTS: " + rules.error().message);
  }
  for (const HintEntry& entry : found) {
    if (!entry.glob.empty() && !matches(entry.glob, path)) continue;
    hints.apply({{entry.name, entry.value}}, HintTime::open, HintSource::environment);
  }
}

bool any_matches(const Environment& environment, const char* variable, const std::string& path) {
  const std::string globs = environment(variable).value_or("");
  return std::ranges::any_of(split_filled(globs, ','), [&](std::string_view glob) {
    return matches(std::string(glob), path);
  });
}

/// Applies the variables that leave files to the MPI. They override all hints.
void apply_switches(Hints& hints, const Environment& environment, const std::string& path) {
  const bool included =
      !environment("NACRE_INCLUDE") || any_matches(environment, "NACRE_INCLUDE", path);
  const bool excluded = any_matches(environment, "NACRE_EXCLUDE", path);
  const std::string disable = environment("NACRE_DISABLE").value_or("");
  const bool disabled = !disable.empty() && disable != "0";
  if (!included || excluded || disabled) {
    hints.set("nacre_enable", "false", HintSource::environment);
  }
}

}  // namespace

std::string user_config_folder(const Environment& environment) {
  if (const auto base = environment("XDG_CONFIG_HOME"); base && !base->empty()) {
    return *base + "/nacre";
  }
  const auto home = environment("HOME");
  return home ? *home + "/.config/nacre" : std::string();
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

void Hints::set(std::string_view name, std::string value, HintSource source) {
  Value& now = values_[std::string(name)];
  if (source == HintSource::open_file && now.source != source) now.requester = now.source;
  now.text = std::move(value);
  now.source = source;
}

std::string Hints::get(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second.text;
  const HintRow* row = find_hint(name);
  return row == nullptr ? "" : std::string(row->default_value);
}

HintSource Hints::source(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? HintSource::built_in : found->second.source;
}

HintSource Hints::requester(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? HintSource::built_in : found->second.requester;
}

InfoPairs Hints::effective() const {
  InfoPairs pairs;
  for (const HintRow& row : hint_table()) {
    std::string value = get(row.name);
    if (!value.empty()) pairs.emplace_back(row.name, std::move(value));
  }
  return pairs;
}

void Hints::apply(const InfoPairs& pairs, HintTime time, HintSource source) {
  for (const auto& [name, value] : pairs) {
    const HintRow* row = find_hint(name);
    if (row == nullptr) {
      note_unknown(name);
      continue;
    }
    if (row->kind == HintKind::output) continue;
    auto checked = accepted_value(*row, value, time);
    if (!checked) continue;
    if (!row->has_effect && *checked != row->default_value) {
      note("hint " + name + ": " + std::string(row->meaning));
    }
    set(name, *std::move(checked), source);
  }
}

void Hints::note_unknown(const std::string& name) {
  const HintRow* const likely = likely_hint(name);
  if (likely != nullptr || name.starts_with("nacre_")) {
    note("hint " + name + ": there is no such hint; " + advice_on_unknown(likely));
  }
}

/// The checked value of a hint, or nothing and a note if it cannot be set.
std::optional<std::string> Hints::accepted_value(const HintRow& row, const std::string& value,
                                                 HintTime time) {
  Result<std::string> checked = checked_value(row, value);
  if (!checked) {
    note(checked.error().message);
    return std::nullopt;
  }
  const std::string current = get(row.name);
  if (time == HintTime::always && row.time == HintTime::open) {
    if (*checked == current)
      return std::nullopt;  // as a program that passes on the info of MPI_File_get_info
    note("hint " + std::string(row.name) + ": \"" + *checked + "\" is ignored, the value stays \"" +
         current + "\"; only MPI_File_open can set this hint");
    return std::nullopt;
  }
  return *std::move(checked);
}

void Hints::note(std::string line) {
  constexpr std::size_t notes_max = 32;
  const bool known = std::ranges::find(notes_, line) != notes_.end();
  if (!known && notes_.size() < notes_max) notes_.push_back(std::move(line));
}

bool Hints::bypass() const { return is("nacre_enable", "false"); }

Coherence Hints::coherence() const {
  if (is("nacre_coherence", "trusted")) return Coherence::trusted;
  if (is("nacre_coherence", "locked")) return Coherence::locked;
  return Coherence::automatic;
}

unsigned Hints::permissions() const {
  const std::string text = get("file_perm");
  return text.empty() ? 0666U : static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 8));
}

AccessSettings Hints::access_settings() const {
  AccessSettings settings{coherence(),
                          independent(),
                          collective("romio_cb_read"),
                          collective("romio_cb_write"),
                          !is("nacre_learn", "disable"),
                          io_thread_count(),
                          is("direct_read", "true")};
  settings.collective_read.initial_groups = initial_groups();
  settings.collective_write.initial_groups = settings.collective_read.initial_groups;
  return settings;
}

std::shared_ptr<const plan::InitialGroups> Hints::initial_groups() const {
  if (is("nacre_groups", "automatic")) return nullptr;
  return std::make_shared<const plan::InitialGroups>(parse_groups(get("nacre_groups")).value());
}

std::optional<int> Hints::io_thread_count() const {
  if (is("nacre_io_threads", "automatic")) return std::nullopt;
  return static_cast<int>(number("nacre_io_threads"));
}

std::int64_t Hints::buffer_bytes(std::string_view name) const {
  constexpr std::int64_t bytes_max = std::int64_t{1} << 30;
  return std::min(number(name), bytes_max);
}

plan::DomainPattern Hints::pattern() const {
  const std::string asked = get("nacre_pattern");
  for (const plan::DomainPattern pattern :
       {plan::DomainPattern::even, plan::DomainPattern::stripes, plan::DomainPattern::osts}) {
    if (asked == plan::name_of(pattern)) return pattern;
  }
  return plan::DomainPattern::automatic;
}

/// cray_cb_write_lock_mode applies if nacre_write_locks is not set.
plan::WriteLocks Hints::write_locks() const {
  const bool asks_cray = is("nacre_write_locks", "usual");
  const std::string asked = get(asks_cray ? "cray_cb_write_lock_mode" : "nacre_write_locks");
  if (asked == "group" || asked == "1") return plan::WriteLocks::group;
  if (asked == "ahead" || asked == "2") return plan::WriteLocks::ahead;
  if (asked == "narrow") return plan::WriteLocks::narrow;
  return plan::WriteLocks::usual;
}

plan::CollectiveSettings Hints::collective(std::string_view switch_name) const {
  plan::CollectiveSettings settings;
  if (is(switch_name, "enable")) settings.algorithm = plan::Algorithm::two_phase;
  if (is("collective_buffering", "false") || is(switch_name, "disable")) {
    settings.algorithm = plan::Algorithm::direct;
  }
  const std::string asked = get("nacre_algorithm");
  for (const plan::AlgorithmRow* const row : plan::algorithm_table()) {
    if (asked == row->name) settings.algorithm = row->algorithm;
  }
  settings.aggregator_count =
      static_cast<std::int32_t>(std::min<std::int64_t>(number("cb_nodes"), INT32_MAX));
  settings.cycle_bytes = buffer_bytes("cb_buffer_size");
  if (!is("nacre_cycle_buffers", "automatic")) {
    settings.cycle_buffer_count = static_cast<std::int32_t>(number("nacre_cycle_buffers"));
  }
  settings.saturation_bytes = number("nacre_saturation_bytes");
  settings.pattern = pattern();
  settings.write_locks = write_locks();
  settings.osts_per_aggregator = static_cast<std::int32_t>(
      std::min<std::int64_t>(number("nacre_osts_per_aggregator"), plan::stripes_on_all_osts));
  if (is("nacre_ost_sharing", "ranges")) settings.sharing = plan::OstSharing::ranges;
  return settings;
}

collective::IndependentSettings Hints::independent() const {
  collective::IndependentSettings settings;
  settings.read_buffer_bytes = buffer_bytes("ind_rd_buffer_size");
  settings.write_buffer_bytes = buffer_bytes("ind_wr_buffer_size");
  settings.read_sieving = !is("romio_ds_read", "disable");
  settings.write_sieving = is("nacre_sole_writer", "true") && !is("romio_ds_write", "disable");
  return settings;
}

/// Texts, each terminated by a zero byte: the number of hints; name, value and source of each hint;
/// the notes.
std::vector<std::byte> Hints::serialized() const {
  std::string text = std::to_string(values_.size()) + '\0';
  for (const auto& [name, value] : values_) {
    text += name + '\0' + value.text + '\0' + std::to_string(static_cast<int>(value.source)) +
            '\0' + std::to_string(static_cast<int>(value.requester)) + '\0';
  }
  for (const std::string& line : notes_) text += line + '\0';
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Hints Hints::deserialized(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());  // NOLINT
  const std::vector<std::string_view> texts = split(text, '\0');
  Hints hints;
  auto next = texts.begin();
  for (auto left = parse_number<std::size_t>(*next++).value(); left > 0; --left, next += 4) {
    const auto source = static_cast<HintSource>(parse_number<int>(next[2]).value());
    const auto requester = static_cast<HintSource>(parse_number<int>(next[3]).value());
    hints.values_[std::string(next[0])] = {std::string(next[1]), source, requester};
  }
  hints.notes_.assign(next, texts.end() - 1);
  return hints;
}

std::int64_t Hints::number(std::string_view name) const {
  return std::strtoll(get(name).c_str(), nullptr, 10);
}

bool Hints::is(std::string_view name, std::string_view value) const { return get(name) == value; }

Result<Hints> resolve_hints(const std::string& path, const InfoPairs& info_pairs,
                            const Environment& environment) {
  Hints hints;
  const Layer system_file{HintSource::system_file,
                          environment("NACRE_SYSTEM_CONFIG").value_or("/etc/nacre/config.toml")};
  const Layer user_file{HintSource::user_file, user_config_path(environment)};
  for (const Layer& file : {system_file, user_file}) {
    if (file.where.empty()) continue;
    Status applied = apply_config(hints, file, path);
    if (!applied && is_out_of_reach(file, applied.error(), environment)) {
      hints.note("configuration file " + file.where +
                 ": permission denied, so Nacre ignores it; the node of rank 0 has to reach it");
    } else if (!applied) {
      return std::move(applied).error();
    }
  }
  apply_foreign_hints(hints, environment, path);
  if (Status applied = apply_variables(hints, environment); !applied) {
    return std::move(applied).error();
  }
  if (Status applied = apply_hints_variable(hints, environment, path); !applied) {
    return std::move(applied).error();
  }
  hints.apply(info_pairs, HintTime::open);
  apply_switches(hints, environment, path);
  return hints;
}

collective::Task<Result<Hints>> agree_hints(collective::Transport& transport, std::string path,
                                            InfoPairs info_pairs, Environment environment) {
  // Only rank 0 can fail: it broadcasts the hints, or no bytes and then its error.
  Status status;
  std::vector<std::byte> bytes;
  if (transport.rank() == 0) {
    Result<Hints> resolved = resolve_hints(path, info_pairs, environment);
    if (resolved) {
      bytes = resolved->serialized();
    } else {
      status = std::move(resolved).error();
    }
  }
  auto spreading = collective::broadcast_sized(transport, bytes, 0);
  co_await spreading;
  if (!bytes.empty()) co_return Hints::deserialized(bytes);
  auto spreading_error = collective::broadcast_error(transport, std::move(status), 0);
  Error error = co_await spreading_error;
  co_return error;
}

}  // namespace nacre::file
