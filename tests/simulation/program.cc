#include "program.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "random_job.h"

namespace nacre::simulation {
namespace {

using namespace collective::fixtures;

using sim::fixtures::one_of;

constexpr std::int64_t component_bytes = 64 << 10;
constexpr std::array composite_layouts{"-E 64k -c 1 -E -1 -c 2 -S 64k",
                                       "-E 64k -c 1 -E 128k -c 2 -E -1 -c -1 -S 64k",
                                       "-E 128k -c 1 -S 64k"};

machine::Machine random_machine(Random& random) {
  constexpr std::array<std::int64_t, 3> bandwidths{0, 1 << 20, 1 << 28};
  machine::Machine machine;
  machine.ost = {one_of(random, bandwidths), 0};
  machine.osts = pick(random, 1, 5);
  machine.ost_latency_us = pick(random, 0, 1) * 100;
  machine.lock_latency_us = pick(random, 0, 1) * 20;
  machine.wide_locks = pick(random, 0, 1);
  machine.rpc_bytes = 1 << 16;
  machine.dirty_bytes = one_of(random, std::array<std::int64_t, 2>{1 << 14, 1 << 20});
  machine.near_message_ns = pick(random, 0, 1) * 500;
  machine.far_message_ns = pick(random, 0, 1) * 3'000;
  machine.message_bandwidth = one_of(random, bandwidths);
  machine.copy_bandwidth = one_of(random, bandwidths);
  machine.write_call_ns = pick(random, 0, 1) * 4'000;
  machine.one_writer = pick(random, 0, 1);
  machine.stripe_count = pick(random, 1, 3);
  machine.stripe_size = 1 << 16;
  return machine;
}

/// Another access through the view of `access`.
RankAccess access_through(Random& random, const plan::TiledMap& view, std::int64_t bytes_max) {
  RankAccess other = random_access(random, bytes_max, 1);
  other.file.view = view;
  return other;
}

/// Accesses by the shared pointer, from step.size_bytes on.
void add_shared_accesses(Random& random, int rank_count, Step& step) {
  const plan::TiledMap view{random_monotone_type(random), pick(random, 0, 5'000)};
  step.size_bytes = pick(random, 0, 400);
  const std::int64_t bytes_each = pick(random, 1, rank_count > 16 ? 20 : 200);
  std::int64_t begin = step.size_bytes;
  for (int rank = 0; rank < rank_count; ++rank) {
    RankAccess access = access_through(random, view, 300);
    while (step.action == Action::write_shared && access.file.byte_count != bytes_each) {
      access = access_through(random, view, bytes_each);
      access.file.byte_count = std::max(access.file.byte_count, bytes_each);
      access.buffer = random_bytes(random, std::ranges::max(access.memory_offsets()) + 1);
    }
    access.file.first_byte = begin;
    begin += access.file.byte_count;
    step.accesses.push_back(std::move(access));
  }
}

/// `far`: some accesses lie in later components of the file.
Step random_step(Random& random, int rank_count, bool far) {
  constexpr std::array actions{Action::write_all,   Action::write_all,     Action::write_all,
                               Action::read_all,    Action::read_all,      Action::write_each,
                               Action::sync,        Action::resize,        Action::write_ahead,
                               Action::write_ahead, Action::write_ordered, Action::write_shared};
  Step step;
  step.action = one_of(random, actions);
  const std::int64_t shift = far ? pick(random, 0, 3) * component_bytes : 0;
  if (step.action == Action::resize) step.size_bytes = pick(random, 0, 20'000) + shift;
  if (step.action == Action::sync || step.action == Action::resize) return step;
  if (step.action == Action::write_ordered || step.action == Action::write_shared) {
    add_shared_accesses(random, rank_count, step);
    return step;
  }
  for (int rank = 0; rank < rank_count; ++rank) {
    RankAccess access = random_access(random, 3'000, 20'000);
    access.file.view.origin += shift;
    if (step.action == Action::write_ahead) {
      step.beside.push_back(access_through(random, access.file.view, 1'000));
    }
    step.accesses.push_back(std::move(access));
  }
  return step;
}

std::string random_store_fault(Random& random, int rank_count) {
  constexpr std::array errnos{"ENOSPC", "EIO", "EDQUOT", "ESTALE", "ENOMEM", "EACCES", "EFBIG"};
  constexpr std::array calls{"write", "write",  "write", "read",    "read",     "open",
                             "sync",  "resize", "close", "counter", "allocate", "lock"};
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::to_string(pick(random, low, high));
  };
  std::string words;
  if (pick(random, 0, 3) > 0) words = "rank=" + number(0, rank_count - 1) + ",";
  switch (pick(random, 0, 3)) {
    case 0:
      words += "byte=" + number(0, 15'000);
      break;
    case 1:
      words += "after=" + number(0, 15'000);
      break;
    default: {
      const std::string call = one_of(random, calls);
      words += call + "=" + number(1, 8);
      const bool may_be_short = call == "write" || call == "read";
      if (may_be_short && pick(random, 0, 1) == 0) words += ",short=" + number(1, 500);
    }
  }
  if (pick(random, 0, 2) == 0) words += ",repeat=1";
  return words + ",errno=" + one_of(random, errnos);
}

/// The eviction of a node; or a fault of an OST, and mostly its end.
void add_server_fault(Random& random, const Program& program, std::vector<ServerFault>& faults) {
  if (pick(random, 0, 3) == 0) {
    const std::int64_t node = pick(random, 0, program.nodes.node_count() - 1);
    faults.push_back({pick(random, 0, 3'000'000), "node " + std::to_string(node) + " evicted"});
    return;
  }
  const std::int64_t ost_count = program.machine.osts;
  constexpr std::array kinds{"no_space", "error 0.3", "slow 20", "hung"};
  const std::string ost = "ost " + std::to_string(pick(random, 0, ost_count - 1)) + " ";
  const std::string kind = one_of(random, kinds);
  const std::int64_t begin = pick(random, 0, 3'000'000);
  faults.push_back({begin, ost + kind});
  // Requests to an OST that hangs for ever never end.
  if (kind == "hung" || pick(random, 0, 1) == 0) {
    faults.push_back({begin + pick(random, 0, 60'000'000'000), ost + "well"});
  }
}

template <class T>
void erase_at(std::vector<T>& from, std::vector<std::size_t> indices) {
  std::ranges::sort(indices, std::greater<>());
  for (const std::size_t index : indices) {
    if (index < from.size()) from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

std::string described(const Step& step) {
  constexpr std::array names{"write_all",     "read_all",     "write_each", "write_ahead",
                             "write_ordered", "write_shared", "sync",       "resize"};
  std::string words = names[static_cast<std::size_t>(step.action)];
  if (step.action == Action::resize) words += " " + std::to_string(step.size_bytes);
  for (const RankAccess& access : step.accesses) {
    words += " " + std::to_string(access.file.byte_count);
  }
  for (const RankAccess& access : step.beside) {
    words += "+" + std::to_string(access.file.byte_count);
  }
  return words;
}

}  // namespace

Program random_program(std::uint64_t seed) {
  Random random(seed);
  Program program;
  program.seed = seed;
  const int rank_count =
      static_cast<int>(pick(random, 0, 9) == 0 ? pick(random, 17, 64) : pick(random, 2, 16));
  program.machine = random_machine(random);
  program.nodes = sim::fixtures::random_nodes(random, rank_count, 8);
  program.buffered_bytes_max = one_of(random, std::array<std::int64_t, 3>{0, 100, 16'384});
  program.hints = sim::fixtures::random_hints(random, rank_count, 5'000);
  const bool has_components = pick(random, 0, 3) == 0;
  if (has_components) {
    program.hints.emplace_back("nacre_layout", one_of(random, composite_layouts));
  }
  for (std::int64_t i = pick(random, 1, 6); i > 0; --i) {
    program.steps.push_back(random_step(random, rank_count, has_components));
  }
  for (std::int64_t i = pick(random, 0, 2); i > 0; --i) {
    program.store_faults.push_back(random_store_fault(random, rank_count));
  }
  if (pick(random, 0, 2) == 0) {
    add_server_fault(random, program, program.server_faults);
  }
  return program;
}

Program without(Program program, const Omissions& omissions) {
  erase_at(program.steps, omissions.steps);
  erase_at(program.store_faults, omissions.store_faults);
  erase_at(program.server_faults, omissions.server_faults);
  return program;
}

std::string described(const Program& program) {
  std::string words = std::to_string(program.nodes.rank_count()) + " ranks on " +
                      std::to_string(program.nodes.node_count()) + " nodes\nhints:";
  for (const auto& [name, value] : program.hints) words += " " + name + "=" + value;
  for (const Step& step : program.steps) words += "\nstep: " + described(step);
  for (const std::string& fault : program.store_faults) words += "\nstore fault: " + fault;
  for (const ServerFault& fault : program.server_faults) {
    words += "\nserver fault at " + std::to_string(fault.at_nanoseconds) + " ns: " + fault.words;
  }
  return words + "\n";
}

}  // namespace nacre::simulation
