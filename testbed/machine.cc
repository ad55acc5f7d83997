#include "testbed/machine.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <variant>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/parse_number.h"
#include "plan/layout/layout.h"

namespace nacre::testbed {
namespace {

constexpr std::int64_t nodes_max = 256;
constexpr std::int64_t osts_max = 512;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Setting {
  std::string_view name;
  std::variant<std::int64_t*, double*> value;
  std::int64_t least;
  std::int64_t most;
  std::string_view what;
};

std::vector<Setting> settings_of(Machine& m) {
  return {
      {"nodes.count", &m.nodes, 1, nodes_max, "client nodes, each a mount"},
      {"nodes.bandwidth", &m.node_link.bandwidth, 0, largest, "bytes a second of a node's link"},
      {"nodes.rpc_bytes", &m.rpc_bytes, 4096, 1 << 30, "bytes of a request to an OST at most"},
      {"nodes.rpcs_in_flight", &m.rpcs_in_flight, 1, 256, "requests of a node to an OST at once"},
      {"nodes.dirty_bytes", &m.dirty_bytes, 4096, largest,
       "bytes that a node writes ahead of an OST"},
      {"nodes.read_bytes", &m.read_bytes, 0, largest, "bytes that a node reads ahead"},
      {"uplinks.count", &m.uplinks, 0, nodes_max, "links that nodes share, in turn; 0: none"},
      {"uplinks.bandwidth", &m.uplink.bandwidth, 0, largest, "bytes a second of one"},
      {"uplinks.client_cost", &m.uplink.client_cost, 0, 1000, "for each further node at once"},
      {"servers.osts_each", &m.osts_per_server, 0, osts_max, "OSTs of a server; 0: no servers"},
      {"servers.bandwidth", &m.server_link.bandwidth, 0, largest, "bytes a second of one's link"},
      {"servers.client_cost", &m.server_link.client_cost, 0, 1000, "for each further node at once"},
      {"osts.count", &m.osts, 1, osts_max, "storage targets"},
      {"osts.bandwidth", &m.ost.bandwidth, 0, largest, "bytes a second of one"},
      {"osts.client_cost", &m.ost.client_cost, 0, 1000, "for each further node at once"},
      {"osts.latency_us", &m.ost_latency_us, 0, 60'000'000, "microseconds of a request"},
      {"osts.threads", &m.ost_threads, 1, 1 << 16, "requests served at once"},
      {"osts.fallocate", &m.ost_fallocate, 0, 1, "0: refused, with a false size on the node"},
      {"locks.latency_us", &m.lock_latency_us, 0, 60'000'000,
       "microseconds of a message about a lock"},
      {"locks.wide", &m.wide_locks, 0, 1, "granted as wide as can be; 0: as asked for"},
      {"striping.count", &m.stripe_count, 1, plan::stripe_count_max,
       "stripes of files that ask for nothing"},
      {"striping.size", &m.stripe_size, plan::stripe_size_unit, plan::stripe_size_max,
       "bytes of their stripes"},
  };
}

Error machine_error(const std::string& what) { return Error{ErrorClass::arg, 0, what}; }

Error out_of_range(const Setting& setting, std::string_view value) {
  std::string range = std::to_string(setting.least);
  range += setting.most == largest ? " or more" : " to " + std::to_string(setting.most);
  return machine_error(std::string(setting.name) + " = " + std::string(value) + ": it takes " +
                       range + " (" + std::string(setting.what) + ")");
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

}  // namespace

Status set_machine(Machine& machine, std::string_view name, std::string_view value) {
  const std::vector<Setting> settings = settings_of(machine);
  const auto found = std::ranges::find(settings, name, &Setting::name);
  if (found == settings.end()) {
    std::string names;
    for (const Setting& one : settings)
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    return machine_error("there is no setting " + std::string(name) + " of a machine; there are " +
                         names);
  }
  const auto fits = [&](auto number) {
    return number >= static_cast<decltype(number)>(found->least) &&
           number <= static_cast<decltype(number)>(found->most);
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
  if (machine.stripe_size % plan::stripe_size_unit != 0) {
    return machine_error("striping.size = " + std::string(value) + " is no multiple of 64k");
  }
  return {};
}

Status read_machine(Machine& machine, const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return machine_error(path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                         std::string(parsed.error().description()));
  }
  for (const auto& [section, node] : parsed.table()) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return at_line(path, node, "expected sections, such as [osts], and settings in them");
    }
    for (const auto& [key, value] : *table) {
      const std::string name = std::string(section.str()) + "." + std::string(key.str());
      const std::optional<std::string> given = text_of(value);
      if (!given) return at_line(path, value, name + " takes a number, or one with k, m, g or t");
      if (Status set = set_machine(machine, name, *given); !set) {
        return at_line(path, value, set.error().message);
      }
    }
  }
  return {};
}

std::string describe_machine(Machine machine) {
  std::ostringstream text;
  for (const Setting& one : settings_of(machine)) {
    text << "  " << one.name << " = ";
    std::visit([&](const auto* value) { text << *value; }, one.value);
    text << "  # " << one.what << '\n';
  }
  return text.str();
}

}  // namespace nacre::testbed
