#include "options.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <getopt.h>

#include "base/parse_number.h"
#include "machine/machine_file.h"
#include "sim/program/workload_calls.h"
#include "store/system/text_file.h"

namespace nacre::simulate {
namespace {

constexpr std::int64_t ranks_max = 1 << 20;

Error wrong(const std::string& what) { return Error{ErrorClass::arg, 0, what}; }

Status take_machine(machine::Machine& machine, const std::string& path) {
  const Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return text.error();
  if (!text->has_value()) return wrong("--machine " + path + ": there is no such file");
  machine::MachineFile file{.machine = machine};
  Status read = machine::read_machine(file, **text, path);
  machine = file.machine;
  return read;
}

Status take_number(const char* option, const char* text, std::int64_t max, std::int64_t& number) {
  const std::optional<std::int64_t> parsed = parse_number<std::int64_t>(text);
  if (!parsed || *parsed < 1 || *parsed > max) {
    return wrong(std::string(option) + " " + text + ": expected a number from 1 to " +
                 std::to_string(max));
  }
  number = *parsed;
  return {};
}

Status take_hint(file::InfoPairs& hints, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return wrong("--hint " + text + ": expected NAME=VALUE");
  hints.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return {};
}

Status take_workload(Options& options, const char* name) {
  options.workload = workload::find_workload(name);
  if (options.workload != nullptr) return {};
  std::string known;
  for (const workload::Workload& one : workload::all_workloads()) {
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  return wrong(std::string("unknown workload ") + name + "; the workloads are: " + known);
}

Status take_calls(Options& options, const std::string& path) {
  const Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return text.error();
  if (!text->has_value()) return wrong("--calls " + path + ": there is no such file");
  Result<sim::RecordedJob> job = sim::RecordedJob::parse(**text);
  if (!job) return wrong("--calls " + path + ": " + job.error().message);
  options.recorded = *std::move(job);
  return {};
}

/// An option of getopt_long(), and what takes its value.
Status take_option(Options& options, int option, const char* value) {
  constexpr std::int64_t bytes_max = std::int64_t{1} << 60U;
  std::int64_t number = 0;
  Status taken = wrong("invalid option; see nacre-simulate --help");
  if (option == 'm') taken = take_machine(options.machine, value);
  if (option == 'h') taken = take_hint(options.hints, value);
  if (option == 'H') taken = take_hint(options.read_hints, value);
  if (option == 'c') taken = take_calls(options, value);
  if (option == 'b') taken = take_number("--bytes", value, bytes_max, options.bytes);
  if (option == 'k') taken = take_number("--block", value, bytes_max, options.block_bytes);
  if (option == 'n') {
    taken = take_number("--nodes", value, ranks_max, number);
    options.nodes = static_cast<int>(number);
  }
  if (option == 'r') {
    taken = take_number("--ranks-per-node", value, ranks_max, number);
    options.ranks_per_node = static_cast<int>(number);
  }
  if (option == 'N') {
    taken = take_number("--ranks", value, ranks_max, number);
    options.rank_count = static_cast<int>(number);
  }
  return taken;
}

/// Null if the option is not a flag.
bool* flag_of(Options& options, int option) {
  switch (option) {
    case 'R':
      return &options.reads;
    case 'o':
      return &options.only_reads;
    case 'O':
      return &options.reopens;
    case 'S':
      return &options.searches;
    case 't':
      return &options.timelines;
    case 'M':
      return &options.memory;
    case 'p':
      return &options.reports_progress;
    case 'C':
      return &options.checks_bytes;
    default:
      return nullptr;
  }
}

/// Whether the options say what program runs, and in which modes.
Status check_program(const Options& options) {
  if (!options.recorded && options.bytes == 0) {
    return wrong("--bytes is missing; see nacre-simulate --help");
  }
  if (options.only_reads && (options.recorded || options.reads || options.checks_bytes)) {
    return wrong("--only-read needs a WORKLOAD, and excludes --read and --check");
  }
  if (options.reopens && (options.recorded || !options.reads)) {
    return wrong("--reopen needs --read and a WORKLOAD");
  }
  if (options.checks_bytes && options.searches) return wrong("--check moves bytes, --search none");
  if (!options.read_hints.empty() && !options.reopens) return wrong("--read-hint needs --reopen");
  return {};
}

/// Whether the program runs on so many ranks and nodes.
Status check_ranks(const Options& options) {
  if (!options.recorded && !options.workload->runs_at(options.ranks())) {
    return wrong(std::string(options.workload->name) + " needs a square number of ranks, not " +
                 std::to_string(options.ranks()));
  }
  if (std::int64_t{options.nodes} * options.ranks_per_node > ranks_max) {
    return wrong("more than " + std::to_string(ranks_max) + " ranks");
  }
  if (options.ranks() < options.nodes) {
    return wrong("--ranks " + std::to_string(options.ranks()) + ": fewer than --nodes " +
                 std::to_string(options.nodes));
  }
  return {};
}

/// Of a workload.
workload::Access access_of(const Options& options, int rank) {
  return options.workload->make({.rank = rank,
                                 .ranks = options.ranks(),
                                 .bytes = options.bytes,
                                 .block_bytes = options.block_bytes,
                                 .one_process = true});
}

}  // namespace

sim::RankCalls Options::calls_of(int rank) const {
  if (recorded) return recorded->calls_of(rank);
  sim::RankCalls calls;
  std::vector<sim::CallSeries> all = sim::calls_of(access_of(*this, rank));
  if (reads) calls.reads = all;
  (only_reads ? calls.reads : calls.writes) = std::move(all);
  return calls;
}

std::int64_t Options::bytes_to_read() const {
  if (only_reads) return access_of(*this, 0).file_bytes;
  return recorded ? recorded->end(ranks()) : 0;
}

const char* const usage =
    "Usage: nacre-simulate [OPTION]... --bytes N WORKLOAD\n"
    "       nacre-simulate [OPTION]... --calls FILE\n"
    "Runs a workload of nacre-bench, or the calls of a recorded job, on Nacre's engine in virtual "
    "time, and prints JSON.\n"
    "`nacre simulate` starts this program and shows tables.\n"
    "\n"
    "  --machine FILE      a machine file; default: a machine on which nothing takes time\n"
    "  --nodes N           nodes of the job; default 1\n"
    "  --ranks-per-node M  ranks of each node; default 1\n"
    "  --ranks N           ranks of all nodes instead, of which some may have one more\n"
    "  --calls FILE        the calls of a job (src/sim/program/recorded_job.h)\n"
    "  --bytes N           bytes of the file\n"
    "  --block N           bytes of a block, for workloads with blocks\n"
    "  --read              read the file after writing it\n"
    "  --only-read         read the file without writing it; it is in no cache\n"
    "  --reopen            read as a later job: close the file, give up all locks, and open it\n"
    "  --hint NAME=VALUE   a hint of the open; repeatable\n"
    "  --read-hint NAME=VALUE\n"
    "                      a hint of the open before the reads instead; repeatable\n"
    "  --search            print settings and their times by the cost model instead\n"
    "  --timelines         also print when each node, server and OST was busy\n"
    "  --memory            also print the most memory that this process has had: it differs a "
    "little\n"
    "                      from run to run, all else is the same\n"
    "  --check             move real bytes instead of sizes, and check every byte that is read, "
    "and\n"
    "                      the file; takes the memory of all buffers and of the file\n"
    "  --progress          print lines about the progress on standard error\n";

Result<Options> parse_options(int argc, char** argv) {
  const std::array<option, 18> table{{{"calls", required_argument, nullptr, 'c'},
                                      {"machine", required_argument, nullptr, 'm'},
                                      {"nodes", required_argument, nullptr, 'n'},
                                      {"ranks-per-node", required_argument, nullptr, 'r'},
                                      {"ranks", required_argument, nullptr, 'N'},
                                      {"bytes", required_argument, nullptr, 'b'},
                                      {"block", required_argument, nullptr, 'k'},
                                      {"hint", required_argument, nullptr, 'h'},
                                      {"read-hint", required_argument, nullptr, 'H'},
                                      {"read", no_argument, nullptr, 'R'},
                                      {"only-read", no_argument, nullptr, 'o'},
                                      {"reopen", no_argument, nullptr, 'O'},
                                      {"search", no_argument, nullptr, 'S'},
                                      {"timelines", no_argument, nullptr, 't'},
                                      {"memory", no_argument, nullptr, 'M'},
                                      {"progress", no_argument, nullptr, 'p'},
                                      {"check", no_argument, nullptr, 'C'},
                                      {nullptr, 0, nullptr, 0}}};
  Options options;
  for (int got = 0; (got = getopt_long(argc, argv, "", table.data(), nullptr)) != -1;) {
    if (bool* const flag = flag_of(options, got)) {
      *flag = true;
    } else if (Status taken = take_option(options, got, optarg); !taken) {
      return taken.error();
    }
  }
  if (optind + (options.recorded ? 0 : 1) != argc) {
    return wrong("expected one WORKLOAD, or --calls; see nacre-simulate --help");
  }
  if (!options.recorded) {
    if (Status taken = take_workload(options, argv[optind]); !taken) return taken.error();
  }
  if (Status fits = check_program(options); !fits) return fits.error();
  if (Status fits = check_ranks(options); !fits) return fits.error();
  if (options.read_hints.empty()) options.read_hints = options.hints;
  return options;
}

}  // namespace nacre::simulate
