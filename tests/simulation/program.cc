#include "program.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>

namespace nacre::simulation {
namespace {

template <class T>
void erase_at(std::vector<T>& from, std::vector<std::size_t> indices) {
  std::ranges::sort(indices, std::greater<>());
  for (const std::size_t index : indices) {
    if (index < from.size()) from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

// ---- in words ----

std::string described(const file::AccessMode& mode) {
  std::string words = mode.write ? (mode.read ? "read-write" : "write") : "read";
  if (mode.create) words += " create";
  if (mode.exclusive) words += " exclusive";
  if (mode.append) words += " append";
  if (mode.delete_on_close) words += " delete-on-close";
  return words;
}

std::string described(const ProgramFile& file) {
  std::string words = file.path + ": " + described(file.mode);
  if (file.bytes_before == 0) return words;
  words += ", has " + std::to_string(file.bytes_before) + " bytes before";
  return file.layout_before.empty() ? words : words + " (" + file.layout_before + ")";
}

std::string described(const Step& step) {
  constexpr std::array names{"write_all",     "read_all",     "write_each",   "read_each",
                             "write_ordered", "read_ordered", "write_shared", "read_shared",
                             "sync",          "resize",       "preallocate",  "get_size",
                             "set_atomicity", "reopen",       "remove"};
  std::string words = names[static_cast<std::size_t>(step.action)];
  if (step.file > 0) words = "file " + std::to_string(step.file) + ": " + words;
  const bool opens = step.action == Action::reopen || step.action == Action::remove;
  if (opens) return words + ", then " + described(step.mode);
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

// ---- leaving out ----

plan::NodeMap nodes_of(int rank_count, const std::function<int(int)>& node_of) {
  std::vector<plan::NodeMap::Run> runs;
  for (int rank = 0; rank < rank_count; ++rank) {
    const plan::NodeMap::Run run{static_cast<std::uint64_t>(node_of(rank) + 1), 1};
    plan::append_runs(runs, {&run, 1});
  }
  return plan::NodeMap::from_runs(runs);
}

template <class T>
void keep_first(std::vector<T>& list, int count) {
  if (std::ssize(list) > count) list.resize(static_cast<std::size_t>(count));
}

void keep_ranks(Program& program, int count) {
  program.nodes =
      nodes_of(count, [nodes = program.nodes](int rank) { return nodes.node_of(rank); });
  for (Step& step : program.steps) {
    for (Accesses& call : step.calls) keep_first(call, count);
    keep_first(step.beside, count);
    keep_first(step.pauses, count);
  }
}

/// Faults of nodes that are left out have no place.
void erase_faults_of_nodes(Program& program) {
  std::erase_if(program.faults, [&](const Fault& fault) {
    const std::optional<std::int32_t> node = node_of(fault);
    return node && *node >= program.nodes.node_count();
  });
}

/// Whether the fault is one of this kind of the OST that `other` names.
bool is_of_same_ost(const Fault& fault, const char* kind, const std::string& other) {
  const auto* const server = std::get_if<ServerFault>(&fault);
  return server != nullptr && server->words == other.substr(0, other.rfind(' ') + 1) + kind;
}

/// Requests to an OST that hangs for ever never end, whatever Nacre does.
void erase_endless_faults(Program& program) {
  std::erase_if(program.faults, [&, all = program.faults](const Fault& fault) {
    const auto* const server = std::get_if<ServerFault>(&fault);
    return server != nullptr && is_of_same_ost(fault, "hung", server->words) &&
           std::ranges::none_of(all, [&](const Fault& other) {
             return is_of_same_ost(other, "well", server->words);
           });
  });
}

void leave_out_files(Program& program, const std::vector<std::size_t>& files) {
  for (const std::size_t file : files) {
    if (file == 0 || file >= program.files.size()) continue;
    std::erase_if(program.steps, [&](const Step& step) { return step.file == file; });
    program.files.resize(file);
  }
}

// ---- shrinking ----

using IsWrong = std::function<bool(const Omissions&)>;

/// Tries to leave out each of these parts in turn.
template <class Range>
void leave_out(Range candidates, const IsWrong& is_wrong, Omissions& omissions,
               std::vector<std::size_t> Omissions::*parts) {
  for (const std::size_t part : candidates) {
    if (std::ranges::find(omissions.*parts, part) != (omissions.*parts).end()) continue;
    Omissions more = omissions;
    (more.*parts).push_back(part);
    if (is_wrong(more)) omissions = std::move(more);
  }
}

/// Tries to keep half of `count`, three quarters, or all but one, as often as that succeeds.
void reduce(int count, int minimum, const IsWrong& is_wrong, Omissions& omissions,
            std::optional<int> Omissions::*kept) {
  const auto is_wrong_with = [&](int fewer) {
    Omissions more = omissions;
    more.*kept = fewer;
    if (fewer < minimum || !is_wrong(more)) return false;
    omissions = std::move(more);
    return true;
  };
  bool shrinks = true;
  while (shrinks) {
    const int now = (omissions.*kept).value_or(count);
    shrinks = now > minimum &&
              (is_wrong_with(now / 2) || is_wrong_with(now * 3 / 4) || is_wrong_with(now - 1));
  }
}

}  // namespace

bool allows(const file::AccessMode& mode, Action action) {
  switch (action) {
    case Action::write_all:
    case Action::write_each:
    case Action::write_ordered:
    case Action::write_shared:
    case Action::resize:
    case Action::preallocate:
      return mode.write;
    case Action::read_all:
    case Action::read_each:
    case Action::read_ordered:
    case Action::read_shared:
      return mode.read;
    default:
      return true;
  }
}

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
  erase_at(program.hints, omissions.hints);
  for (const std::size_t file : omissions.contents) {
    if (file < program.files.size()) program.files[file].bytes_before = 0;
  }
  leave_out_files(program, omissions.files);
  if (omissions.ranks && *omissions.ranks < program.nodes.rank_count()) {
    keep_ranks(program, *omissions.ranks);
  }
  if (omissions.nodes) {
    program.nodes =
        nodes_of(program.nodes.rank_count(), [&](int rank) { return rank % *omissions.nodes; });
  }
  erase_faults_of_nodes(program);
  erase_endless_faults(program);
  return program;
}

Omissions shrink(const Program& program, Omissions omissions,
                 const std::function<bool(const Program&)>& is_wrong) {
  const IsWrong is_wrong_without = [&](const Omissions& more) {
    return is_wrong(without(program, more));
  };
  const auto indices_of = [](const auto& list) {
    return std::views::iota(std::size_t{0}, list.size());
  };
  const auto has_contents = [&](std::size_t file) { return program.files[file].bytes_before > 0; };
  std::optional<Omissions> before;
  while (before != omissions) {
    before = omissions;
    leave_out(indices_of(program.steps), is_wrong_without, omissions, &Omissions::steps);
    leave_out(indices_of(program.faults), is_wrong_without, omissions, &Omissions::faults);
    reduce(program.nodes.rank_count(), 1, is_wrong_without, omissions, &Omissions::ranks);
    const int node_count = without(program, omissions).nodes.node_count();
    reduce(node_count, 1, is_wrong_without, omissions, &Omissions::nodes);
    leave_out(indices_of(program.hints), is_wrong_without, omissions, &Omissions::hints);
    leave_out(indices_of(program.files) | std::views::drop(1), is_wrong_without, omissions,
              &Omissions::files);
    leave_out(indices_of(program.files) | std::views::filter(has_contents), is_wrong_without,
              omissions, &Omissions::contents);
  }
  return omissions;
}

std::string described(const Program& program) {
  std::string words = std::to_string(program.nodes.rank_count()) + " ranks on " +
                      std::to_string(program.nodes.node_count()) + " nodes\nhints:";
  for (const auto& [name, value] : program.hints) words += " " + name + "=" + value;
  for (const ProgramFile& file : program.files) words += "\nfile " + described(file);
  for (const Step& step : program.steps) words += "\nstep: " + described(step);
  for (const Fault& fault : program.faults) words += "\nfault: " + described(fault);
  return words + "\n";
}

}  // namespace nacre::simulation
