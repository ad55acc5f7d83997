#include "machine/machine_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/json.h"
#include "base/parse_number.h"

namespace nacre::machine {
namespace {

constexpr std::int64_t nodes_max = 1 << 24;
constexpr std::int64_t osts_max = 1 << 16;
constexpr std::int64_t nanoseconds_max = 60'000'000'000;
// Lustre's limits.
constexpr std::int64_t stripe_count_max = 2000;
constexpr std::int64_t stripe_size_unit = 64 << 10;
constexpr std::int64_t stripe_size_max = std::int64_t{4} << 30;
constexpr std::string_view label_section = "machine";
constexpr std::string_view client_cost = "fraction of a request's time, for each further node";
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Setting {
  std::string_view name;
  std::variant<std::int64_t*, double*> value;
  std::int64_t min;
  std::int64_t max;
  std::string_view description;
};

std::vector<Setting> settings_of(Machine& m) {
  return {
      {"nodes.count", &m.nodes, 1, nodes_max, "client nodes; each has a mount"},
      {"nodes.bandwidth", &m.node_link.bandwidth, 0, largest, "bytes per second of a node's link"},
      {"nodes.rpc_bytes", &m.rpc_bytes, 4096, 1 << 30, "largest request to an OST, bytes"},
      {"nodes.rpcs_in_flight", &m.rpcs_in_flight, 1, 256, "requests of a node to one OST at once"},
      {"nodes.dirty_bytes", &m.dirty_bytes, 4096, largest,
       "bytes that a node caches and has not yet written to one OST"},
      {"nodes.read_bytes", &m.read_bytes, 0, largest, "read-ahead of an open file, bytes"},
      {"nodes.cores", &m.cores, 0, nodes_max, "cores of a node; 0: those of the node of rank 0"},
      {"nodes.memory_bandwidth", &m.memory_bandwidth, 0, largest,
       "bytes per second that all ranks of a node copy together"},
      {"nodes.copy_bandwidth", &m.copy_bandwidth, 0, largest, "bytes per second of one rank"},
      {"nodes.piece_ns", &m.piece_ns, 0, nanoseconds_max,
       "nanoseconds of each piece of a copy, in addition to its bytes"},
      {"nodes.one_computer", &m.one_computer, 0, 1,
       "1: the nodes are emulated on one computer, and share its cores"},
      {"messages.near_ns", &m.near_message_ns, 0, nanoseconds_max,
       "nanoseconds of a message inside a node"},
      {"messages.far_ns", &m.far_message_ns, 0, nanoseconds_max,
       "nanoseconds of a message between nodes"},
      {"messages.bandwidth", &m.message_bandwidth, 0, largest,
       "bytes per second of a node's messages to and from other nodes"},
      {"messages.share_link", &m.messages_share_link, 0, 1,
       "1: messages between nodes pass the links over which nodes reach the servers"},
      {"clients.write_call_ns", &m.write_call_ns, 0, nanoseconds_max,
       "nanoseconds of a write, in addition to its bytes"},
      {"clients.read_call_ns", &m.read_call_ns, 0, nanoseconds_max,
       "nanoseconds of a read, in addition to its bytes"},
      {"clients.write_bandwidth", &m.write_bandwidth, 0, largest,
       "bytes per second that one process writes at most"},
      {"clients.read_bandwidth", &m.read_bandwidth, 0, largest,
       "bytes per second that one process reads at most"},
      {"clients.write_saturation", &m.write_saturation, 0, largest,
       "k: bytes of the smallest write that reaches this bandwidth"},
      {"clients.read_saturation", &m.read_saturation, 0, largest,
       "k: bytes of the smallest read that reaches this bandwidth"},
      {"clients.shared_page_ns", &m.shared_page_ns, 0, nanoseconds_max,
       "nanoseconds of each end of a write in a page that another process of the node writes"},
      {"clients.one_writer", &m.one_writer, 0, 1,
       "1: the processes of a node that write to one file take turns"},
      {"uplinks.count", &m.uplinks, 0, nodes_max,
       "links that nodes share; assigned in turn; 0: none"},
      {"uplinks.bandwidth", &m.uplink.bandwidth, 0, largest, "bytes per second of an uplink"},
      {"uplinks.client_cost", &m.uplink.client_cost, 0, 1000, client_cost},
      {"servers.osts_each", &m.osts_per_server, 0, osts_max, "OSTs per server; 0: no servers"},
      {"servers.bandwidth", &m.server_link.bandwidth, 0, largest,
       "bytes per second of a server's link"},
      {"servers.client_cost", &m.server_link.client_cost, 0, 1000, client_cost},
      {"osts.count", &m.osts, 1, osts_max, "object storage targets"},
      {"osts.bandwidth", &m.ost.bandwidth, 0, largest, "bytes per second of an OST"},
      {"osts.read_bandwidth", &m.ost_read_bandwidth, 0, largest,
       "bytes per second that an OST reads; 0: as it writes"},
      {"osts.client_cost", &m.ost.client_cost, 0, 1000, client_cost},
      {"osts.latency_us", &m.ost_latency_us, 0, 60'000'000,
       "microseconds of a request, in addition to the transfer"},
      {"osts.threads", &m.ost_threads, 1, 1 << 16, "requests that an OST serves at once"},
      {"osts.fallocate", &m.ost_fallocate, 0, 1,
       "1: OSTs accept fallocate; 0: they refuse it, and the node sees the larger size"},
      {"locks.latency_us", &m.lock_latency_us, 0, 60'000'000,
       "microseconds of a message to or from a lock server"},
      {"locks.wide", &m.wide_locks, 0, 1, "1: locks extend as far as possible; 0: as requested"},
      {"opens.us", &m.open_us, 0, 60'000'000, "microseconds of an open"},
      {"striping.count", &m.stripe_count, 0, stripe_count_max,
       "stripes of files without a requested layout; 0: files have no layouts"},
      {"striping.size", &m.stripe_size, stripe_size_unit, stripe_size_max,
       "stripe size of these files, bytes"},
  };
}

Error machine_error(const std::string& what) { return Error{ErrorClass::arg, 0, what}; }

Error out_of_range(const Setting& setting, std::string_view value) {
  std::string range = std::to_string(setting.min);
  range += setting.max == largest ? " or more" : " to " + std::to_string(setting.max);
  return machine_error(std::string(setting.name) + " = " + std::string(value) + ": it takes " +
                       range + " (" + std::string(setting.description) + ")");
}

std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* fraction = node.as_floating_point()) return std::to_string(fraction->get());
  return std::nullopt;
}

Error at_line(const std::string& path, const toml::node& node, const std::string& what) {
  return machine_error(path + ":" + std::to_string(node.source().begin.line) + ": " + what);
}

/// A key of section [machine].
Status set_label(MachineFile& file, std::string_view key, const toml::node& node) {
  if (key == "version") {
    const auto version = node.value<std::int64_t>();
    if (version && *version == machine_version) return {};
    return machine_error("machine.version = " + text_of(node).value_or("?") +
                         ": this library reads version " + std::to_string(machine_version));
  }
  const std::array<std::pair<std::string_view, std::string*>, 5> labels{
      {{"name", &file.name},
       {"description", &file.description},
       {"file_system", &file.file_system},
       {"mount", &file.mount},
       {"measured", &file.measured}}};
  const auto found = std::ranges::find(labels, key, [](const auto& one) { return one.first; });
  if (found == labels.end()) {
    return machine_error("there is no setting machine." + std::string(key) +
                         "; this section has version, name, description, file_system, mount and "
                         "measured");
  }
  const auto* const text = node.as_string();
  if (text == nullptr) return machine_error("machine." + std::string(key) + " takes a string");
  *found->second = text->get();
  return {};
}

Status set_figure(Machine& machine, const std::string& name, const toml::node& node) {
  const std::optional<std::string> given = text_of(node);
  if (given) return set_machine(machine, name, *given);
  return machine_error(name + " takes a number, or a string with a unit, for example \"64k\"");
}

}  // namespace

Status set_machine(Machine& machine, std::string_view name, std::string_view value) {
  const std::vector<Setting> settings = settings_of(machine);
  const auto found = std::ranges::find(settings, name, &Setting::name);
  if (found == settings.end()) {
    std::string names;
    for (const Setting& one : settings)
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    return machine_error("there is no setting " + std::string(name) + "; the settings are " +
                         names);
  }
  const auto fits = [&](auto number) {
    return number >= static_cast<decltype(number)>(found->min) &&
           number <= static_cast<decltype(number)>(found->max);
  };
  if (auto* const* whole = std::get_if<std::int64_t*>(&found->value)) {
    const auto number = parse_scaled_number<std::int64_t>(value);
    if (!number || !fits(*number)) return out_of_range(*found, value);
    **whole = *number;
  } else {
    const auto number = parse_real(value);
    if (!number || !fits(*number)) return out_of_range(*found, value);
    *std::get<double*>(found->value) = *number;
  }
  if (machine.stripe_size % stripe_size_unit != 0) {
    return machine_error("striping.size = " + std::string(value) + " is no multiple of 64k");
  }
  return {};
}

Status read_machine(MachineFile& file, const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return machine_error(path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                         std::string(parsed.error().description()));
  }
  if (file.name.empty()) file.name = std::filesystem::path(path).stem().string();
  for (const auto& [section, node] : parsed.table()) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return at_line(path, node, "expected sections with settings in them, for example [osts]");
    }
    for (const auto& [key, value] : *table) {
      const std::string name = std::string(section.str()) + "." + std::string(key.str());
      Status set = section.str() == label_section ? set_label(file, key.str(), value)
                                                  : set_figure(file.machine, name, value);
      if (!set) return at_line(path, value, set.error().message);
      if (name == "osts.bandwidth") file.machine.is_of_class = false;
    }
  }
  return {};
}

std::vector<WithoutFigure> without_each_figure(const Machine& machine) {
  const auto clear = [](auto* value) { return std::exchange(*value, 0) != 0; };
  std::vector<WithoutFigure> found;
  Machine without = machine;
  for (const Setting& setting : settings_of(without)) {
    const bool is_known = setting.min == 0 && std::visit(clear, setting.value);
    if (is_known) found.push_back({setting.name, without});
    without = machine;
  }
  return found;
}

std::string describe_machine(Machine machine) {
  std::ostringstream text;
  for (const Setting& one : settings_of(machine)) {
    text << "  " << one.name << " = ";
    std::visit([&](const auto* value) { text << *value; }, one.value);
    text << "  # " << one.description << '\n';
  }
  return text.str();
}

std::string machine_as_json(Machine machine) {
  JsonObject figures;
  for (const Setting& one : settings_of(machine)) {
    std::ostringstream value;
    std::visit([&](const auto* number) { value << *number; }, one.value);
    figures.add(
        one.name,
        JsonObject().add("value", value.str()).add_text("description", one.description).text());
  }
  return figures.text();
}

const Machine& shipped_machine(std::string_view name) {
  static const auto machines = [] {
    std::map<std::string_view, Machine> by_name;
    for (const ShippedMachine& one : shipped_machines()) {
      MachineFile file;
      // A test reads all of them.
      if (read_machine(file, std::string(one.text), std::string(one.name))) {
        file.machine.is_of_class = true;
        by_name.emplace(one.name, file.machine);
      }
    }
    return by_name;
  }();
  return machines.at(name);
}

}  // namespace nacre::machine
