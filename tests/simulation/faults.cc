#include "faults.h"

#include <array>
#include <cerrno>
#include <cstddef>

#include "store/system/errno.h"
#include "testing/faults/fault_plan.h"

namespace nacre::simulation {
namespace {

std::string nanoseconds(std::int64_t count) { return std::to_string(count) + " ns"; }

std::string words_of(const StoreFault& fault) { return "the store: " + fault.rule; }

std::string words_of(const ServerFault& fault) {
  return "at " + nanoseconds(fault.at_nanoseconds) + ": " + fault.words;
}

std::string words_of(const LateCall& fault) {
  return "call " + std::to_string(fault.nth) + " of rank " + std::to_string(fault.rank) +
         (fault.is_in_two_parts ? " pauses for " + nanoseconds(fault.nanoseconds)
                                : " begins " + nanoseconds(fault.nanoseconds) + " late");
}

std::string words_of(const LateMessages& fault) {
  return "messages are up to " + nanoseconds(fault.nanoseconds_max) + " late";
}

std::string words_of(const RefusedMemory& fault) {
  return std::string(fault.is_shared ? "shared" : "own") + " memory is refused, allocation " +
         std::to_string(fault.nth) + (fault.repeats ? " and all later ones" : "");
}

std::string words_of(const Intrusion& fault) {
  constexpr std::array acts{"reads the file", "sets the layout", "adds a component",
                            "removes unwritten components", "migrates the file to"};
  return "at " + nanoseconds(fault.at_nanoseconds) + " another process on node " +
         std::to_string(fault.node) + " " + acts[static_cast<std::size_t>(fault.act)] +
         (fault.layout.empty() ? "" : " " + fault.layout);
}

template <class Kind>
const Kind* as(const Fault& fault) {
  return std::get_if<Kind>(&fault);
}

}  // namespace

std::string described(const Fault& fault) {
  return std::visit([](const auto& one) { return words_of(one); }, fault);
}

std::vector<ErrorClass> error_classes_of(const Fault& fault) {
  if (const auto* const failing = as<StoreFault>(fault)) {
    std::vector<ErrorClass> classes;
    const testing::FaultPlan plan = testing::parse_fault_plan(failing->rule).value();
    for (const testing::Fault& one : plan.faults) {
      classes.push_back(store::error_class_of(one.system_errno));
      // A rank told that the shared file pointer is there attaches to it, and finds nothing.
      const auto* const nth = std::get_if<testing::NthCall>(&one.trigger);
      const bool tells_of_pointer = nth != nullptr && nth->operation == testing::StoreCall::counter;
      if (tells_of_pointer && one.system_errno == EEXIST) {
        classes.push_back(ErrorClass::no_such_file);
      }
    }
    return classes;
  }
  if (const auto* const server = as<ServerFault>(fault)) {
    const auto says = [&](const char* word) {
      return server->words.find(word) != std::string::npos;
    };
    if (says("no_space") || says("no_objects")) return {ErrorClass::no_space};
    if (says("error") || server->node) return {ErrorClass::io};
  }
  if (as<RefusedMemory>(fault) != nullptr) return {ErrorClass::no_mem};
  const auto* const intrusion = as<Intrusion>(fault);
  const bool removes = intrusion != nullptr && intrusion->act == Intrusion::Act::remove_unwritten;
  return removes ? std::vector{store::error_class_of(ENODATA)} : std::vector<ErrorClass>{};
}

std::optional<std::int32_t> node_of(const Fault& fault) {
  if (const auto* const server = as<ServerFault>(fault)) return server->node;
  if (const auto* const intrusion = as<Intrusion>(fault)) return intrusion->node;
  return std::nullopt;
}

bool loses_writes(const Fault& fault) {
  const auto* const server = as<ServerFault>(fault);
  if (server == nullptr) return false;
  return server->node.has_value() || server->words.find("late_error") != std::string::npos;
}

}  // namespace nacre::simulation
