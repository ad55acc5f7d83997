#include "testing/faults/fault_plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>
#include <utility>

#include "base/parse_number.h"
#include "base/split.h"

namespace nacre::testing {
namespace {

constexpr std::array<std::pair<std::string_view, StoreCall>, 15> operations{{
    {"open", StoreCall::open},
    {"read", StoreCall::read},
    {"write", StoreCall::write},
    {"resize", StoreCall::resize},
    {"allocate", StoreCall::allocate},
    {"sync", StoreCall::sync},
    {"close", StoreCall::close},
    {"lock", StoreCall::lock},
    {"remove", StoreCall::remove},
    {"counter", StoreCall::counter},
    {"layout", StoreCall::layout},
    {"read_layout", StoreCall::read_layout},
    {"size", StoreCall::size},
    {"check_locks", StoreCall::check_locks},
    {"write_locks", StoreCall::write_locks},
}};

constexpr std::array<std::pair<std::string_view, int>, 43> errno_names{{
    {"EACCES", EACCES},
    {"EAGAIN", EAGAIN},
    {"EBADF", EBADF},
    {"EBUSY", EBUSY},
    {"EDQUOT", EDQUOT},
    {"EEXIST", EEXIST},
    {"EFAULT", EFAULT},
    {"EFBIG", EFBIG},
    {"EINVAL", EINVAL},
    {"EIO", EIO},
    {"EISDIR", EISDIR},
    {"ELOOP", ELOOP},
    {"EMFILE", EMFILE},
    {"ENFILE", ENFILE},
    {"ENAMETOOLONG", ENAMETOOLONG},
    {"ENODATA", ENODATA},
    {"ENODEV", ENODEV},
    {"ENOENT", ENOENT},
    {"ENOLCK", ENOLCK},
    {"ENOMEM", ENOMEM},
    {"ENOSPC", ENOSPC},
    {"ENOSYS", ENOSYS},
    {"ENOTCONN", ENOTCONN},
    {"ENOTDIR", ENOTDIR},
    {"ENXIO", ENXIO},
    {"EOPNOTSUPP", EOPNOTSUPP},
    {"EPERM", EPERM},
    {"EROFS", EROFS},
    {"ESHUTDOWN", ESHUTDOWN},
    {"ESTALE", ESTALE},
    {"ETIMEDOUT", ETIMEDOUT},
    {"ETXTBSY", ETXTBSY},
    {"EREMOTEIO", EREMOTEIO},
    {"EALREADY", EALREADY},
    {"ECANCELED", ECANCELED},
    {"ECONNRESET", ECONNRESET},
    {"EHOSTUNREACH", EHOSTUNREACH},
    {"EINTR", EINTR},
    {"ENOTTY", ENOTTY},
    {"EOVERFLOW", EOVERFLOW},
    {"EPROTO", EPROTO},
    {"ERANGE", ERANGE},
    {"EUCLEAN", EUCLEAN},
}};

constexpr std::array<std::string_view, 11> other_keys{"rank", "path",       "byte",     "after",
                                                      "on",   "short",      "repeat",   "errno",
                                                      "kill", "latency_us", "bandwidth"};

template <class Table>
auto look_up(const Table& table, std::string_view name)
    -> std::optional<typename Table::value_type::second_type> {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found == table.end()) return std::nullopt;
  return found->second;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// A rule while it is parsed. Keeps the first error.
class Rule {
 public:
  explicit Rule(std::string_view text) : text_(text) {
    for (const std::string_view field : split(text, ',')) {
      const std::size_t equals = field.find('=');
      if (equals == std::string_view::npos) {
        set_error("\"" + std::string(field) + "\" is not key=value");
        continue;
      }
      add(trimmed(field.substr(0, equals)), trimmed(field.substr(equals + 1)));
    }
  }

  [[nodiscard]] bool has(std::string_view key) const { return values_.count(key) != 0; }
  [[nodiscard]] std::string text(std::string_view key) const {
    return has(key) ? std::string(values_.at(key)) : std::string();
  }
  /// The value of a key, which must be present, as a number of at least `min`.
  std::int64_t number(std::string_view key, std::int64_t min) {
    const std::string_view value = values_.at(key);
    const auto parsed = parse_number<std::int64_t>(value);
    if (parsed && *parsed >= min) return *parsed;
    set_error(std::string(key) + " is \"" + std::string(value) + "\", but a number from " +
              std::to_string(min) + " is needed");
    return min;
  }

  void set_error(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  [[nodiscard]] bool has_error() const { return !error_.empty(); }
  [[nodiscard]] Error error() const {
    return {ErrorClass::arg, 0, "fault rule \"" + std::string(text_) + "\": " + error_};
  }

 private:
  void add(std::string_view key, std::string_view value) {
    const bool known = look_up(operations, key).has_value() ||
                       std::find(other_keys.begin(), other_keys.end(), key) != other_keys.end();
    if (!known) set_error("unknown key \"" + std::string(key) + "\"");
    if (!values_.emplace(key, value).second) set_error(std::string(key) + " is given twice");
  }

  std::string_view text_;
  std::map<std::string_view, std::string_view> values_;
  std::string error_;
};

std::optional<int> rank_of(Rule& rule) {
  if (!rule.has("rank")) return std::nullopt;
  const std::int64_t rank = rule.number("rank", 0);
  if (rank > std::numeric_limits<int>::max()) rule.set_error("rank is too large");
  return static_cast<int>(rank);
}

std::optional<StoreCall> direction_of(Rule& rule) {
  if (!rule.has("on")) return std::nullopt;
  const std::string direction = rule.text("on");
  if (direction == "read") return StoreCall::read;
  if (direction != "write")
    rule.set_error("on is \"" + direction + "\", but read or write is needed");
  return StoreCall::write;
}

NthCall nth_call_of(Rule& rule, std::string_view key, StoreCall operation) {
  NthCall call{operation, rule.number(key, 1), 0};
  if (rule.has("short")) {
    call.short_bytes = rule.number("short", 0);
    if (operation != StoreCall::read && operation != StoreCall::write) {
      rule.set_error("short is only valid with read=N or write=N");
    }
  }
  if (rule.has("on")) rule.set_error("on is only valid with byte or after");
  return call;
}

std::variant<NthCall, TouchedByte, MovedBytes> trigger_of(Rule& rule) {
  std::variant<NthCall, TouchedByte, MovedBytes> trigger;
  int triggers = 0;
  for (const auto& [name, operation] : operations) {
    if (!rule.has(name)) continue;
    trigger = nth_call_of(rule, name, operation);
    ++triggers;
  }
  if (rule.has("byte")) {
    trigger = TouchedByte{rule.number("byte", 0), direction_of(rule)};
    ++triggers;
  }
  if (rule.has("after")) {
    trigger = MovedBytes{rule.number("after", 0), direction_of(rule)};
    ++triggers;
  }
  if (triggers != 1) {
    rule.set_error("expected exactly one of OPERATION=N, byte=OFFSET and after=BYTES, found " +
                   std::to_string(triggers));
  }
  if (rule.has("short") && !std::holds_alternative<NthCall>(trigger)) {
    rule.set_error("short is only valid with read=N or write=N");
  }
  return trigger;
}

int errno_of(Rule& rule) {
  if (rule.has("kill")) {
    if (rule.text("kill") != "1" || rule.has("errno")) {
      rule.set_error("kill is only valid as kill=1, and without errno");
    }
    return kills_process;
  }
  if (!rule.has("errno")) {
    rule.set_error("expected errno= or kill=1 (a fault), or latency_us= or bandwidth= (a delay)");
    return EIO;
  }
  const std::string name = rule.text("errno");
  if (const std::optional<int> known = look_up(errno_names, name)) return *known;
  const bool is_number = !name.empty() && name[0] >= '0' && name[0] <= '9';
  if (!is_number) {
    rule.set_error("errno \"" + name + "\" is not a known name; use the number");
    return EIO;
  }
  const std::int64_t number = rule.number("errno", 1);
  if (number > 4095) rule.set_error("errno is at most 4095");  // the kernel's MAX_ERRNO
  return static_cast<int>(number);
}

Fault fault_of(Rule& rule) {
  Fault fault;
  fault.rank = rank_of(rule);
  fault.path_part = rule.text("path");
  fault.trigger = trigger_of(rule);
  fault.system_errno = errno_of(rule);
  fault.repeats = rule.has("repeat") && rule.number("repeat", 0) != 0;
  return fault;
}

Delay delay_of(Rule& rule) {
  Delay delay;
  delay.rank = rank_of(rule);
  delay.path_part = rule.text("path");
  if (rule.has("latency_us")) delay.latency_microseconds = rule.number("latency_us", 0);
  if (rule.has("bandwidth")) delay.bytes_per_second = rule.number("bandwidth", 1);
  const auto is_of_fault = [&](std::string_view key) { return rule.has(key); };
  constexpr std::array<std::string_view, 7> fault_keys{"errno", "kill",  "byte",  "after",
                                                       "on",    "short", "repeat"};
  const bool has_operation =
      std::any_of(operations.begin(), operations.end(),
                  [&](const auto& operation) { return rule.has(operation.first); });
  if (has_operation || std::any_of(fault_keys.begin(), fault_keys.end(), is_of_fault)) {
    rule.set_error("a fault and a delay are two rules: separate them with ';'");
  }
  return delay;
}

}  // namespace

std::string_view name_of(StoreCall operation) {
  return std::ranges::find(operations, operation, [](const auto& row) { return row.second; })
      ->first;
}

Result<FaultPlan> parse_fault_plan(std::string_view spec) {
  FaultPlan plan;
  for (const std::string_view part : split(spec, ';')) {
    const std::string_view text = trimmed(part);
    if (text.empty()) continue;
    Rule rule(text);
    if (rule.has_error()) return rule.error();
    if (rule.has("latency_us") || rule.has("bandwidth")) {
      plan.delays.push_back(delay_of(rule));
    } else {
      plan.faults.push_back(fault_of(rule));
    }
    if (rule.has_error()) return rule.error();
  }
  return plan;
}

}  // namespace nacre::testing
