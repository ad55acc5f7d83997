#include "program.h"

#include <algorithm>
#include <array>
#include <functional>

namespace nacre::simulation {
namespace {

template <class T>
void erase_at(std::vector<T>& from, std::vector<std::size_t> indices) {
  std::ranges::sort(indices, std::greater<>());
  for (const std::size_t index : indices) {
    if (index < from.size()) from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

std::string described(const Step& step) {
  constexpr std::array names{"write_all",     "read_all",     "write_each",   "read_each",
                             "write_ordered", "read_ordered", "write_shared", "sync",
                             "resize",        "preallocate",  "set_atomicity"};
  std::string words = names[static_cast<std::size_t>(step.action)];
  if (step.calls.empty()) return words + " " + std::to_string(step.number);
  if (step.individual) words += ", individual pointer";
  for (const Accesses& call : step.calls) {
    words += ", bytes";
    for (const auto& access : call) words += " " + std::to_string(access.file.byte_count);
  }
  if (!step.beside.empty()) words += ", meanwhile";
  for (const auto& access : step.beside) words += " " + std::to_string(access.file.byte_count);
  return words;
}

}  // namespace

bool Program::excuses_errors() const {
  return std::ranges::any_of(faults,
                             [](const Fault& fault) { return !error_classes_of(fault).empty(); });
}

bool Program::explains(const Error& error) const {
  return std::ranges::any_of(faults, [&](const Fault& fault) {
    return std::ranges::count(error_classes_of(fault), error.error_class) > 0;
  });
}

bool Program::loses_writes() const {
  return std::ranges::any_of(faults, &simulation::loses_writes);
}

Program without(Program program, const Omissions& omissions) {
  erase_at(program.steps, omissions.steps);
  erase_at(program.faults, omissions.faults);
  return program;
}

std::string described(const Program& program) {
  std::string words = std::to_string(program.nodes.rank_count()) + " ranks on " +
                      std::to_string(program.nodes.node_count()) + " nodes\nhints:";
  for (const auto& [name, value] : program.hints) words += " " + name + "=" + value;
  for (const Step& step : program.steps) words += "\nstep: " + described(step);
  for (const Fault& fault : program.faults) words += "\nfault: " + described(fault);
  return words + "\n";
}

}  // namespace nacre::simulation
