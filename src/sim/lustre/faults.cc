#include "sim/lustre/faults.h"

#include <cerrno>
#include <sstream>
#include <string>

#include "base/parse_number.h"
#include "sim/lustre/errno_result.h"

namespace nacre::sim {
namespace {

Error wrong(std::string_view text, const std::string& what) {
  return Error{ErrorClass::arg, EINVAL, "fault \"" + std::string(text) + "\": " + what};
}

/// Puts a fault without a value into `fault`. False if there is no such fault.
bool read_plain_fault(const std::string& kind, OstFault& fault) {
  if (kind == "no_space") {
    fault.no_space = true;
  } else if (kind == "no_objects") {
    fault.no_objects = true;
  } else if (kind == "hung") {
    fault.slowness = 0;
  } else {
    return kind == "well";
  }
  return true;
}

/// Parses a fault of an OST and its value into `fault`. False if there is no such fault.
bool read_fault(const std::string& kind, const std::string& value, OstFault& fault) {
  if (value.empty()) return read_plain_fault(kind, fault);
  if (kind == "error_at") {
    fault.error_byte = parse_scaled_number<std::int64_t>(value);
    return fault.error_byte.has_value();
  }
  const std::optional<double> number = parse_real(value);
  if (!number || *number < 0) return false;
  if (kind == "slow") {
    fault.slowness = *number;
    return *number > 0;
  }
  if (kind == "error") fault.error_rate = *number;
  if (kind == "late_error") fault.late_error_rate = *number;
  return (kind == "error" || kind == "late_error") && *number <= 1;
}

}  // namespace

Result<FaultOrder> parse_fault(std::string_view text, const machine::Machine& machine) {
  std::istringstream words{std::string(text)};
  std::string what;
  std::string number;
  std::string kind;
  std::string value;
  std::string rest;
  words >> what >> number >> kind >> value >> rest;
  const auto index = parse_number<std::int32_t>(number);
  const std::int64_t count = what == "node" ? machine.nodes : machine.osts;
  if (what != "ost" && what != "node") return wrong(text, "a fault begins with ost or node");
  if (!index || *index < 0 || *index >= count) {
    return wrong(text, "this testbed has " + what + "s 0 to " + std::to_string(count - 1));
  }
  FaultOrder order;
  if (what == "node") {
    if (kind != "evicted" || !value.empty()) return wrong(text, "a node can be: evicted");
    order.evicted_node = *index;
    return order;
  }
  order.ost = *index;
  if (!read_fault(kind, value, order.fault) || !rest.empty()) {
    return wrong(text,
                 "an OST can be: no_space, no_objects, error RATE (0 to 1), error_at BYTE, "
                 "late_error RATE (0 to 1), slow FACTOR, hung, well");
  }
  return order;
}

bool Faults::is_full(std::int32_t ost) const {
  const auto found = by_ost_.find(ost);
  return found != by_ost_.end() && found->second.no_space;
}

Status Faults::check(std::int32_t ost, const Extent& file, bool writes) {
  const auto found = by_ost_.find(ost);
  if (found == by_ost_.end()) return {};
  const OstFault& fault = found->second;
  if (fault.no_space && writes) return refused(ENOSPC);
  if (fault.error_byte && file.contains(*fault.error_byte)) return refused(EIO);
  if (happens(fault.error_rate)) return refused(EIO);
  return {};
}

bool Faults::refuses_cached(std::int32_t ost) {
  const auto found = by_ost_.find(ost);
  return found != by_ost_.end() && happens(found->second.late_error_rate);
}

bool Faults::happens(double rate) {
  if (rate <= 0) return false;
  std::uniform_real_distribution<double> chance(0, 1);
  return chance(random_) < rate;
}

}  // namespace nacre::sim
