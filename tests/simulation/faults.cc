#include "faults.h"

#include <array>
#include <cstddef>

namespace nacre::simulation {
namespace {

std::string nanoseconds(std::int64_t count) { return std::to_string(count) + " ns"; }

std::string words_of(const StoreFault& fault) { return "the store: " + fault.rule; }

std::string words_of(const ServerFault& fault) {
  return "at " + nanoseconds(fault.at_nanoseconds) + ": " + fault.words;
}

std::string words_of(const LateCall& fault) {
  return "call " + std::to_string(fault.nth) + " of rank " + std::to_string(fault.rank) +
         " begins " + nanoseconds(fault.nanoseconds) + " late";
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

bool excuses_errors(const Fault& fault) {
  const auto* const intrusion = as<Intrusion>(fault);
  if (intrusion != nullptr) return intrusion->act == Intrusion::Act::remove_unwritten;
  return as<LateCall>(fault) == nullptr && as<LateMessages>(fault) == nullptr;
}

bool loses_writes(const Fault& fault) {
  const auto* const server = as<ServerFault>(fault);
  return server != nullptr && server->words.find("evicted") != std::string::npos;
}

}  // namespace nacre::simulation
