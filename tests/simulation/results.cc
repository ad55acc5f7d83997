#include "results.h"

#include <algorithm>

namespace nacre::simulation {
namespace {

void add_errors(const std::string& call, const ByRank& ranks, std::string& words) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].error) continue;
    words += call + " of rank " + std::to_string(rank) + ": " + ranks[rank].error->message + "\n";
  }
}

std::string errors_of(const StepResults& step) {
  std::string words;
  add_errors("view", step.views, words);
  add_errors("seek", step.seeks, words);
  for (const ByRank& call : step.calls) add_errors("call", call, words);
  add_errors("access meanwhile", step.beside, words);
  add_errors("close", step.closed, words);
  add_errors("deletion", {step.removed}, words);
  add_errors("open", step.opened, words);
  return words;
}

}  // namespace

Results::Results(const Program& program) : steps(program.steps.size()) {
  const ByRank none(static_cast<std::size_t>(program.nodes.rank_count()));
  opened.assign(program.files.size(), none);
  closed = opened;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    StepResults& results = steps[step];
    for (auto* const by_rank :
         {&results.views, &results.seeks, &results.beside, &results.closed, &results.opened}) {
      *by_rank = none;
    }
    results.calls.assign(std::max<std::size_t>(1, program.steps[step].calls.size()), none);
  }
}

std::string Results::errors() const {
  std::string words;
  for (const ByRank& file : opened) add_errors("open", file, words);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::string more = errors_of(steps[step]);
    if (!more.empty()) words += "step " + std::to_string(step) + ":\n" + more;
  }
  for (const ByRank& file : closed) add_errors("close", file, words);
  return words;
}

bool accesses(Action action) {
  switch (action) {
    case Action::sync:
    case Action::resize:
    case Action::preallocate:
    case Action::get_size:
    case Action::set_atomicity:
    case Action::reopen:
    case Action::remove:
      return false;
    default:
      return true;
  }
}

bool reads(Action action) {
  return action == Action::read_all || action == Action::read_each ||
         action == Action::read_ordered || action == Action::read_shared;
}

bool is_by_shared_pointer(Action action) {
  return action == Action::write_ordered || action == Action::read_ordered ||
         action == Action::write_shared || action == Action::read_shared;
}

bool is_collective(Action action) {
  return action != Action::write_each && action != Action::read_each &&
         action != Action::write_shared && action != Action::read_shared &&
         action != Action::get_size;
}

bool opens(Action action) { return action == Action::reopen || action == Action::remove; }

}  // namespace nacre::simulation
