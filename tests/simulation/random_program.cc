#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "program.h"
#include "random_job.h"
#include "results.h"

namespace nacre::simulation {
namespace {

using namespace collective::fixtures;

using sim::fixtures::one_of;

constexpr std::int64_t second = 1'000'000'000;

/// What decides how the steps of a program are drawn.
struct Kind {
  int rank_count = 0;
  /// By which accesses are shifted: to a boundary between components of the file.
  std::vector<std::int64_t> shifts = {0};
  std::int64_t gap_max = 0;  ///< for each byte of a view, beside the usual gaps
  int file_count = 1;
  bool removes = true;  ///< some steps delete a file
};

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

// ---- hints ----

void erase_hint(Program& program, std::string_view name) {
  std::erase_if(program.hints, [&](const auto& hint) { return hint.first == name; });
}

/// Instead of the value that the program has.
void set_hint(Program& program, const char* name, const std::string& value) {
  erase_hint(program, name);
  program.hints.emplace_back(name, value);
}

// ---- layouts ----

/// The file has components of 64 KiB and more.
void add_composite_layout(Random& random, Program& program, Kind& kind) {
  constexpr std::array layouts{"-E 64k -c 1 -E -1 -c 2 -S 64k",
                               "-E 64k -c 1 -E 128k -c 2 -E -1 -c -1 -S 64k",
                               "-E 128k -c 1 -S 64k"};
  program.hints.emplace_back("nacre_layout", one_of(random, layouts));
  for (std::int64_t component = 1; component <= 3; ++component) {
    kind.shifts.push_back(component << 16);
  }
  if (pick(random, 0, 2) == 0) program.hints.emplace_back("nacre_choose_layout", "replace");
}

/// Nacre lays the file out when it is written: a head of 1 MiB, and behind it components that widen
/// from so few bytes that these programs reach several of them.
void add_growing_layout(Random& random, Program& program, Kind& kind) {
  constexpr std::array choices{"automatic", "automatic", "enable", "replace"};
  constexpr std::int64_t head = 1 << 20;
  erase_hint(program, "striping_factor");
  program.hints.emplace_back("nacre_choose_layout", one_of(random, choices));
  program.hints.emplace_back("nacre_saturation_bytes",
                             std::to_string(pick(random, 1 << 17, 1 << 20)));
  if (pick(random, 0, 3) == 0) program.hints.emplace_back("nacre_choose_layout_from", "2097152");
  for (const std::int64_t shift : {head - 10'000, head, 2 * head, 3 * head, 6 * head}) {
    kind.shifts.push_back(shift);
  }
}

/// Calls that reach over many stripes, and rounds that are large enough for them.
void add_wide_accesses(Random& random, Program& program, Kind& kind) {
  set_hint(program, "cb_buffer_size", std::to_string(pick(random, 10'000, 65'536)));
  kind.gap_max = 300;
}

/// What decides how ranks access the file by themselves, and how they are grouped.
void add_access_hints(Random& random, int rank_count, Program& program) {
  constexpr std::array switches{"automatic", "enable", "disable"};
  constexpr std::array coherences{"automatic", "trusted", "locked"};
  const auto add = [&](const char* name, const std::string& value) {
    if (pick(random, 0, 3) == 0) program.hints.emplace_back(name, value);
  };
  add("nacre_coherence", one_of(random, coherences));
  add("nacre_learn", "disable");
  add("romio_ds_read", one_of(random, switches));
  add("romio_ds_write", one_of(random, switches));
  add("ind_rd_buffer_size", std::to_string(pick(random, 1, 5'000)));
  add("direct_read", "true");
  add("direct_write", "true");
  const std::int64_t row = pick(random, 1, rank_count);
  const bool is_grid = rank_count % row == 0;
  add("nacre_groups",
      is_grid ? std::to_string(rank_count / row) + "x" + std::to_string(row) : "each");
}

/// How two_phase divides the file among the aggregators.
void add_pattern(Random& random, Program& program) {
  constexpr std::array patterns{"even", "stripes", "osts"};
  constexpr std::array sharings{"turns", "ranges"};
  set_hint(program, "nacre_pattern", one_of(random, patterns));
  if (pick(random, 0, 1) == 0) {
    program.hints.emplace_back("nacre_osts_per_aggregator", std::to_string(pick(random, 1, 4)));
  }
  if (pick(random, 0, 1) == 0) {
    program.hints.emplace_back("nacre_ost_sharing", one_of(random, sharings));
  }
}

// ---- files ----

/// Mostly one that allows all steps. `may_remove`: may delete the file when it is closed.
file::AccessMode random_mode(Random& random, bool may_remove) {
  file::AccessMode mode{.read = true, .write = true, .create = true};
  switch (pick(random, 0, 9)) {
    case 0:
      mode.write = mode.create = false;
      return mode;
    case 1:
      mode.read = false;
      break;
    case 2:
      mode.create = false;
      break;
    case 3:
      mode.exclusive = true;
      break;
    case 4:
      mode.append = true;
      break;
    case 5:
      mode.delete_on_close = may_remove;
      break;
    default:
      break;
  }
  return mode;
}

/// Half of the files exist before. Some are longer than what the program writes.
void add_file(Random& random, const Kind& kind, const std::string& path, Program& program) {
  constexpr std::int64_t bytes_max = 1 << 20;
  constexpr std::array layouts{"", "-c 1 -S 64k", "-c 3 -S 64k", "-E 64k -c 1 -E -1 -c 2 -S 64k",
                               "-E 1m -c 1 -S 64k -E -1 -c -1 -S 128k"};
  ProgramFile file{.path = path, .mode = random_mode(random, kind.removes), .layout_before = {}};
  if (pick(random, 0, 1) == 0) {
    constexpr std::array<std::int64_t, 3> longest{100, 20'000, 80'000};
    const std::int64_t shift = pick(random, 0, 3) == 0 ? kind.shifts.back() : 0;
    file.bytes_before = std::min(bytes_max, shift + pick(random, 1, one_of(random, longest)));
    file.layout_before = one_of(random, layouts);
  }
  program.files.push_back(std::move(file));
}

/// A quarter of the programs have two files open at a time; in a third of these programs, they are
/// one file.
void add_files(Random& random, Kind& kind, Program& program) {
  const bool has_two = pick(random, 0, 3) == 0;
  const bool is_twice = has_two && pick(random, 0, 2) == 0;
  kind.file_count = has_two ? 2 : 1;
  kind.removes = !is_twice;
  add_file(random, kind, "f", program);
  if (has_two) add_file(random, kind, is_twice ? "f" : "g", program);
  if (is_twice) program.files.back().bytes_before = 0;  // those of the first
}

// ---- steps ----

/// Another access through the view of `access`.
RankAccess access_through(Random& random, const plan::TiledMap& view, std::int64_t bytes_max) {
  RankAccess other = random_access(random, bytes_max, 1);
  other.file.view = view;
  return other;
}

/// The access that follows `access` in its view, as in a loop of equal calls.
RankAccess access_behind(Random& random, const RankAccess& access) {
  RankAccess next = access;
  next.file.first_byte += next.file.byte_count;
  next.buffer = random_bytes(random, std::ssize(next.buffer));
  return next;
}

/// Accesses by the shared pointer, from step.number on: a call of each rank, or one ordered call,
/// which may be split.
void add_shared_accesses(Random& random, const Kind& kind, Step& step) {
  const plan::TiledMap view{random_monotone_type(random), pick(random, 0, 5'000)};
  step.number = pick(random, 0, 400);
  const std::int64_t bytes_each = pick(random, 1, kind.rank_count > 16 ? 20 : 200);
  const bool have_equal_sizes = !is_collective(step.action);
  const bool is_split = !have_equal_sizes && pick(random, 0, 2) == 0;
  std::int64_t begin = step.number;
  Accesses accesses;
  for (int rank = 0; rank < kind.rank_count; ++rank) {
    RankAccess access = access_through(random, view, 300);
    while (have_equal_sizes && access.file.byte_count != bytes_each) {
      access = access_through(random, view, bytes_each);
      access.file.byte_count = std::max(access.file.byte_count, bytes_each);
      access.buffer = random_bytes(random, std::ranges::max(access.memory_offsets()) + 1);
    }
    access.file.first_byte = begin;
    begin += access.file.byte_count;
    if (is_split) step.beside.push_back(access_through(random, view, 300));
    accesses.push_back(std::move(access));
  }
  step.calls.push_back(std::move(accesses));
}

/// Collective calls in flight, or calls that block: one, or one collective call after the other,
/// equal ones or through the same view.
void add_accesses(Random& random, const Kind& kind, Step& step) {
  const std::int64_t shift = one_of(random, kind.shifts);
  const bool is_collective = step.action == Action::write_all || step.action == Action::read_all;
  const bool is_in_flight = is_collective && pick(random, 0, 2) == 0;
  const bool has_several = is_collective && pick(random, 0, 2) == 0;
  const std::int64_t call_count = has_several ? pick(random, 2, is_in_flight ? 3 : 4) : 1;
  const bool are_equal = !is_in_flight && pick(random, 0, 1) == 0;
  step.individual = pick(random, 0, 2) == 0;
  step.calls.resize(static_cast<std::size_t>(call_count));
  const std::int64_t gap = pick(random, 0, kind.gap_max);
  for (int rank = 0; rank < kind.rank_count; ++rank) {
    RankAccess first = random_access(random, 3'000, 20'000);
    const plan::TypeMap tile = first.file.view.type;
    const plan::TiledMap view{tile.resized(0, tile.extent() + gap * tile.size()).value(),
                              first.file.view.origin + shift};
    first.file.view = view;
    if (is_in_flight) step.beside.push_back(access_through(random, view, 1'000));
    step.calls.front().push_back(std::move(first));
    for (std::size_t call = 1; call < step.calls.size(); ++call) {
      step.calls[call].push_back(are_equal ? access_behind(random, step.calls[call - 1].back())
                                           : access_through(random, view, 1'000));
    }
  }
}

void add_pauses(Random& random, const Kind& kind, Step& step) {
  constexpr std::array<std::int64_t, 4> longest{0, 0, 100'000, 50'000'000};
  const std::int64_t max = one_of(random, longest);
  for (int rank = 0; max > 0 && rank < kind.rank_count; ++rank) {
    step.pauses.push_back(pick(random, 0, 1) * pick(random, 0, max));
  }
}

Step random_step(Random& random, const Kind& kind) {
  constexpr std::array actions{Action::write_all,     Action::write_all,     Action::write_all,
                               Action::write_all,     Action::read_all,      Action::read_all,
                               Action::write_each,    Action::read_each,     Action::sync,
                               Action::resize,        Action::write_ordered, Action::write_shared,
                               Action::read_ordered,  Action::read_shared,   Action::preallocate,
                               Action::set_atomicity, Action::write_all,     Action::reopen,
                               Action::reopen,        Action::remove,        Action::get_size};
  Step step;
  step.action = one_of(random, actions);
  if (step.action == Action::remove && !kind.removes) step.action = Action::reopen;
  step.file = static_cast<std::size_t>(pick(random, 0, kind.file_count - 1));
  add_pauses(random, kind, step);
  switch (step.action) {
    case Action::sync:
    case Action::get_size:
      break;
    case Action::reopen:
    case Action::remove:
      step.mode = random_mode(random, kind.removes);
      break;
    case Action::set_atomicity:
      step.number = pick(random, 0, 1);
      break;
    case Action::resize:
    case Action::preallocate:
      step.number = pick(random, 0, 20'000) +
                    one_of(random, std::array{kind.shifts.front(), kind.shifts.back()});
      break;
    case Action::write_ordered:
    case Action::read_ordered:
    case Action::write_shared:
    case Action::read_shared:
      add_shared_accesses(random, kind, step);
      break;
    default:
      add_accesses(random, kind, step);
  }
  return step;
}

// ---- faults ----

/// From 1 to `few`, or far more.
std::int64_t random_count(Random& random, std::int64_t few) {
  return pick(random, 1, pick(random, 0, 2) > 0 ? few : 10 * few);
}

/// A moment within the first milliseconds, in which short programs end, or later.
std::int64_t random_moment(Random& random) {
  constexpr std::array<std::int64_t, 3> longest{3'000'000, 3'000'000, 100'000'000};
  return pick(random, 0, one_of(random, longest));
}

/// With an error that Lustre's clients return. `shift`: of some accesses of the program.
StoreFault random_store_fault(Random& random, int rank_count, std::int64_t shift) {
  constexpr std::array errnos{
      "ENOSPC",    "EIO",          "EDQUOT",     "ESTALE",    "ENOMEM",    "EACCES",    "EFBIG",
      "ENOLCK",    "EROFS",        "ENODATA",    "EBADF",     "ESHUTDOWN", "ETIMEDOUT", "ENOTCONN",
      "EINVAL",    "ENOENT",       "EPERM",      "EBUSY",     "EAGAIN",    "ENODEV",    "EREMOTEIO",
      "EINTR",     "EPROTO",       "EOPNOTSUPP", "ENXIO",     "ENOSYS",    "ENOTTY",    "EALREADY",
      "ECANCELED", "EHOSTUNREACH", "ECONNRESET", "EUCLEAN",   "ERANGE",    "EEXIST",    "ENFILE",
      "EMFILE",    "ETXTBSY",      "EFAULT",     "EOVERFLOW", "524"};
  constexpr std::array calls{"write",       "write",       "write",      "read",
                             "read",        "counter",     "lock",       "layout",
                             "read_layout", "check_locks", "write_locks"};
  constexpr std::array rare_calls{"open", "sync", "resize", "close", "allocate", "size", "remove"};
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::to_string(pick(random, low, high));
  };
  std::string words;
  if (pick(random, 0, 3) > 0) words = "rank=" + number(0, rank_count - 1) + ",";
  switch (pick(random, 0, 3)) {
    case 0:
      words += "byte=" + number(shift, shift + 15'000);
      break;
    case 1:
      words += "after=" + number(0, 15'000);
      break;
    default: {
      const bool is_rare = pick(random, 0, 4) < 2;
      const std::string call = is_rare ? one_of(random, rare_calls) : one_of(random, calls);
      words += call + "=" + std::to_string(random_count(random, is_rare ? 2 : 8));
      const bool may_be_short = call == "write" || call == "read";
      if (may_be_short && pick(random, 0, 1) == 0) words += ",short=" + number(1, 500);
    }
  }
  if (pick(random, 0, 2) == 0) words += ",repeat=1";
  const std::string error = one_of(random, errnos);
  // A shared pointer that is not there has its first value, which is no failure.
  const bool is_absence = error == "ENOENT" && words.find("counter=") != std::string::npos;
  return {words + ",errno=" + (is_absence ? "EIO" : error)};
}

/// Up to a minute, or up to a quarter of an hour.
std::int64_t random_delay(Random& random) {
  constexpr std::array<std::int64_t, 3> longest{second / 10, 60 * second, 900 * second};
  return pick(random, 0, one_of(random, longest));
}

/// Before, between or after the steps. What a sync has flushed stays, so some programs with faults
/// that lose writes get one.
void add_sync(Random& random, Program& program) {
  if (pick(random, 0, 1) == 0) return;
  Step sync;
  sync.action = Action::sync;
  const std::int64_t place = pick(random, 1, std::ssize(program.steps));
  program.steps.insert(program.steps.begin() + place, sync);
}

void add_eviction(Random& random, Program& program) {
  constexpr std::array<std::int64_t, 3> longest{300'000, 3'000'000, 10 * second};
  const std::int64_t node = pick(random, 0, program.nodes.node_count() - 1);
  program.faults.emplace_back(ServerFault{pick(random, 0, one_of(random, longest)),
                                          "node " + std::to_string(node) + " evicted",
                                          static_cast<std::int32_t>(node)});
  add_sync(random, program);
}

/// The eviction of a node; or a fault of an OST, and mostly its end.
void add_server_fault(Random& random, Program& program) {
  if (pick(random, 0, 3) == 0) return add_eviction(random, program);
  const std::int64_t ost_count = program.machine.osts;
  constexpr std::array kinds{"no_space", "no_objects",     "error 0.3",    "error 1",
                             "slow 20",  "late_error 0.5", "late_error 1", "hung"};
  const std::string ost = "ost " + std::to_string(pick(random, 0, ost_count - 1)) + " ";
  const std::string kind = one_of(random, kinds);
  const std::int64_t begin = random_moment(random);
  program.faults.emplace_back(ServerFault{begin, ost + kind, {}});
  // Requests to an OST that hangs for ever never end.
  if (kind == "hung" || pick(random, 0, 1) == 0) {
    program.faults.emplace_back(ServerFault{begin + random_delay(random), ost + "well", {}});
  }
  if (program.loses_writes()) add_sync(random, program);
}

Intrusion random_intrusion(Random& random, const Program& program) {
  using Act = Intrusion::Act;
  constexpr std::array acts{
      Act::read,    Act::read,   Act::set_layout, Act::add_component, Act::remove_unwritten,
      Act::migrate, Act::migrate};
  constexpr std::array layouts{"-c 1 -S 64k", "-c 2 -S 128k", "-c -1 -S 64k"};
  constexpr std::array composites{"-E 64k -c 1 -E -1 -c 2 -S 64k", "-E 1m -c 1 -E -1 -c -1 -S 64k"};
  Intrusion one;
  one.act = one_of(random, acts);
  one.at_nanoseconds = random_moment(random);
  one.node = static_cast<std::int32_t>(pick(random, 0, program.nodes.node_count() - 1));
  const bool has_layout = one.act != Act::read && one.act != Act::remove_unwritten;
  if (has_layout) one.layout = one_of(random, layouts);
  const bool may_be_composite = one.act == Act::set_layout || one.act == Act::migrate;
  if (may_be_composite && pick(random, 0, 1) == 0) one.layout = one_of(random, composites);
  return one;
}

/// A fault that makes something late, or another process.
Fault random_other_fault(Random& random, const Program& program) {
  constexpr std::array<std::int64_t, 4> message_delays{1'000, 100'000, 10'000'000, 60 * second};
  switch (pick(random, 0, 3)) {
    case 0:
      return LateCall{static_cast<int>(pick(random, 0, program.nodes.rank_count() - 1)),
                      random_count(random, 12), random_delay(random), pick(random, 0, 2) == 0};
    case 1:
      return LateMessages{one_of(random, message_delays)};
    default:
      return random_intrusion(random, program);
  }
}

/// Shared memory, memory of a rank, or both: a rank that shares none allocates its own.
void add_refused_memory(Random& random, Program& program) {
  const std::int64_t kind = pick(random, 0, 3);
  const bool is_shared_refused = kind != 0;
  const bool is_own_refused = kind != 1;
  if (is_shared_refused) {
    program.faults.emplace_back(
        RefusedMemory{true, random_count(random, 6), pick(random, 0, 1) == 0});
  }
  if (is_own_refused) {
    program.faults.emplace_back(
        RefusedMemory{false, random_count(random, 6), pick(random, 0, 1) == 0});
  }
}

/// Other locks than the usual ones, and what makes Nacre use them: domains by stripe that share an
/// OST, and accesses to several stripes.
void add_write_locks(Random& random, Program& program, Kind& kind) {
  constexpr std::array locks{"narrow", "ahead", "group"};
  constexpr std::array patterns{"stripes", "osts"};
  constexpr std::int64_t stripe = 1 << 16;
  program.hints.emplace_back("nacre_write_locks", one_of(random, locks));
  set_hint(program, "nacre_algorithm", "two_phase");
  program.hints.emplace_back("nacre_pattern", one_of(random, patterns));
  set_hint(program, "striping_factor", std::to_string(pick(random, 1, 2)));
  kind.shifts = {stripe - 10'000, 2 * stripe - 10'000, 0};
}

}  // namespace

Program random_program(std::uint64_t seed) {
  Random random(seed);
  Program program;
  program.seed = seed;
  Kind kind;
  kind.rank_count =
      static_cast<int>(pick(random, 0, 9) == 0 ? pick(random, 17, 64) : pick(random, 2, 16));
  program.machine = random_machine(random);
  program.nodes = sim::fixtures::random_nodes(random, kind.rank_count, 8);
  program.buffered_bytes_max = one_of(random, std::array<std::int64_t, 3>{0, 100, 16'384});
  program.hints = sim::fixtures::random_hints(random, kind.rank_count, 5'000);
  const std::int64_t layout = pick(random, 0, 7);
  if (layout >= 3 && layout < 5) add_write_locks(random, program, kind);
  if (layout < 2) add_composite_layout(random, program, kind);
  if (layout >= 5) add_growing_layout(random, program, kind);
  if (pick(random, 0, 2) == 0) add_pattern(random, program);
  if (pick(random, 0, 3) == 0) add_wide_accesses(random, program, kind);
  if (pick(random, 0, 1) == 0) add_access_hints(random, kind.rank_count, program);
  add_files(random, kind, program);
  for (std::int64_t i = pick(random, 1, 7); i > 0; --i) {
    program.steps.push_back(random_step(random, kind));
  }
  for (std::int64_t i = pick(random, 0, 2); i > 0; --i) {
    program.faults.emplace_back(
        random_store_fault(random, kind.rank_count, one_of(random, kind.shifts)));
  }
  if (pick(random, 0, 2) == 0) add_server_fault(random, program);
  for (std::int64_t i = pick(random, 0, 2); i > 0; --i) {
    program.faults.push_back(random_other_fault(random, program));
  }
  if (pick(random, 0, 4) == 0) add_refused_memory(random, program);
  return program;
}

}  // namespace nacre::simulation
