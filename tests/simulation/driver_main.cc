// Runs random programs with faults in virtual time, and shrinks the first one that goes wrong, also
// if it crashes or never ends.
//
//   simulation --seed 1 --runs 1000         programs 1 to 1000
//   simulation --seconds 60                 from a fresh seed, which is printed
//   simulation --seed 7 --runs 1 --without-steps 0,2 --without-faults 1 --ranks 3 --nodes 2
#define DOCTEST_CONFIG_IMPLEMENT
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <getopt.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parse_number.h"
#include "base/split.h"
#include "trial.h"

namespace nacre::simulation {
namespace {

constexpr int exit_usage = 2;
// Of one program: of the processor, if it never ends; and of the clock, if it waits outside of
// virtual time. A busy machine may let it wait for minutes.
constexpr int cpu_seconds_max = 20;
constexpr unsigned seconds_max = 1200;

struct Options {
  std::optional<std::uint64_t> seed;
  std::int64_t runs = std::numeric_limits<std::int64_t>::max();
  std::int64_t seconds = std::numeric_limits<std::int64_t>::max();
  bool in_children = false;
  bool shrinks = true;
  Omissions omissions;
};

void limit_time(bool is_limited) {
  const itimerval cpu_time{{}, {is_limited ? cpu_seconds_max : 0, 0}};
  setitimer(ITIMER_PROF, &cpu_time, nullptr);
  alarm(is_limited ? seconds_max : 0);
}

// ---- programs that crash ----

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF};

/// The arguments of this process, and then --in-children and the seed of the program that runs.
struct Restart {
  std::vector<char*> arguments;
  std::array<char, 24> seed{};
};
Restart restart;

/// A program crashed, or waits outside of virtual time: starts this driver again, which runs the
/// program in child processes and shrinks it.
void run_in_children(int signal) {
  std::array<char, 64> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "signal %d in the program of seed %s\n", signal,
                    restart.seed.data());
  static_cast<void>(!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)));
  execv("/proc/self/exe", restart.arguments.data());
  _exit(1);
}

void note_running(std::uint64_t seed) {
  std::snprintf(restart.seed.data(), restart.seed.size(), "%llu",
                static_cast<unsigned long long>(seed));
}

/// Rank programs run on small stacks, which may be what overflowed.
void handle_crashes(int argc, char** argv) {
  static std::array<char, 1 << 16> stack{};
  const stack_t other{stack.data(), 0, stack.size()};
  sigaltstack(&other, nullptr);
  static std::array<std::string, 4> more{"--in-children", "--runs", "1", "--seed"};
  restart.arguments.assign(argv, argv + argc);
  for (std::string& word : more) restart.arguments.push_back(word.data());
  restart.arguments.push_back(restart.seed.data());
  restart.arguments.push_back(nullptr);
  struct sigaction action {};
  action.sa_handler = run_in_children;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigset_t unblocked{};
  for (const int signal : crashes) {
    sigaction(signal, &action, nullptr);
    sigaddset(&unblocked, signal);
  }
  sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
}

/// As try_out(), in a child process: also finds crashes.
std::optional<std::string> try_out_in_child(const Program& program) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "cannot create a pipe";
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : crashes) std::signal(signal, SIG_DFL);
    limit_time(true);
    const std::string finding = try_out(program).value_or("");
    const bool is_sent = write(ends[1], finding.data(), finding.size()) == std::ssize(finding);
    _exit(is_sent ? 0 : 1);
  }
  close(ends[1]);
  std::string finding;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;) {
    finding.append(part.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  if (finding.empty() && status != 0) return "exit status " + std::to_string(WEXITSTATUS(status));
  return finding.empty() ? std::nullopt : std::optional(finding);
}

// ---- options ----

bool take_list(const char* text, std::vector<std::size_t>& list) {
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_number<std::size_t>(part);
    if (!number) return false;
    list.push_back(*number);
  }
  return true;
}

bool take_number(const char* text, std::int64_t& into) {
  const auto number = parse_number<std::int64_t>(text);
  into = number.value_or(0);
  return number.has_value();
}

/// The options that leave out parts of a program.
struct ListOption {
  const char* name;
  std::vector<std::size_t> Omissions::*list;
};
constexpr std::array list_options{ListOption{"without-steps", &Omissions::steps},
                                  ListOption{"without-faults", &Omissions::faults},
                                  ListOption{"without-hints", &Omissions::hints},
                                  ListOption{"without-files", &Omissions::files},
                                  ListOption{"without-contents", &Omissions::contents}};

bool take_count(const char* text, std::optional<int>& count) {
  count = parse_number<int>(text);
  return count && *count > 0;
}

/// Takes one option; false if its value is wrong. `letter`: of options_of_driver().
bool take_option(int letter, Options& options) {
  switch (letter) {
    case 's':
      options.seed = parse_number<std::uint64_t>(optarg);
      return options.seed.has_value();
    case 'r':
      return take_number(optarg, options.runs);
    case 't':
      return take_number(optarg, options.seconds);
    case 'c':
      options.in_children = true;
      return true;
    case 'n':
      options.shrinks = false;
      return true;
    case 'p':
      return take_count(optarg, options.omissions.ranks);
    case 'o':
      return take_count(optarg, options.omissions.nodes);
    default:
      break;
  }
  const auto list = static_cast<std::size_t>(letter - '0');
  return list < list_options.size() &&
         take_list(optarg, options.omissions.*list_options[list].list);
}

std::vector<option> options_of_driver() {
  std::vector<option> table{
      {"seed", required_argument, nullptr, 's'},    {"runs", required_argument, nullptr, 'r'},
      {"seconds", required_argument, nullptr, 't'}, {"in-children", no_argument, nullptr, 'c'},
      {"no-shrinking", no_argument, nullptr, 'n'},  {"ranks", required_argument, nullptr, 'p'},
      {"nodes", required_argument, nullptr, 'o'}};
  for (std::size_t list = 0; list < list_options.size(); ++list) {
    table.push_back(
        {list_options[list].name, required_argument, nullptr, '0' + static_cast<int>(list)});
  }
  table.push_back({nullptr, 0, nullptr, 0});
  return table;
}

std::optional<Options> parse(int argc, char** argv) {
  const std::vector<option> table = options_of_driver();
  Options options;
  bool is_valid = true;
  for (int got = 0; (got = getopt_long(argc, argv, "", table.data(), nullptr)) != -1;) {
    is_valid = take_option(got, options) && is_valid;
  }
  return is_valid && optind == argc ? std::optional(options) : std::nullopt;
}

/// As options of the driver.
std::string listed(const Omissions& omissions) {
  std::string text;
  for (const ListOption& option : list_options) {
    std::string parts;
    for (const std::size_t part : omissions.*option.list) {
      parts += (parts.empty() ? "" : ",") + std::to_string(part);
    }
    if (!parts.empty()) text += std::string(" --") + option.name + " " + parts;
  }
  if (omissions.ranks) text += " --ranks " + std::to_string(*omissions.ranks);
  if (omissions.nodes) text += " --nodes " + std::to_string(*omissions.nodes);
  return text;
}

/// A finding without its numbers and quoted messages: what a smaller program must share with it.
std::string kind_of(const std::string& finding) {
  if (finding.starts_with("signal") || finding.starts_with("exit status")) return finding;
  std::string kind;
  bool is_quoted = false;
  for (const char letter : finding.substr(0, finding.find('\n'))) {
    if (letter == '"') is_quoted = !is_quoted;
    if (!is_quoted && std::isdigit(static_cast<unsigned char>(letter)) == 0) kind += letter;
  }
  return kind;
}

int report(const char* name, const Program& program, const Omissions& omitted) {
  const std::string first = try_out_in_child(without(program, omitted)).value_or("");
  const Omissions omissions = shrink(program, omitted, [&](const Program& smaller) {
    const std::optional<std::string> found = try_out_in_child(smaller);
    return found && kind_of(*found) == kind_of(first);
  });
  const Program smaller = without(program, omissions);
  const std::string finding = try_out_in_child(smaller).value_or("");
  std::printf("%s%s\nrepeat: %s --seed %llu --runs 1%s\n", described(smaller).c_str(),
              finding.c_str(), name, static_cast<unsigned long long>(program.seed),
              listed(omissions).c_str());
  return 1;
}

int run(const char* name, const Options& options) {
  const std::uint64_t first = options.seed ? *options.seed : std::random_device{}();
  std::printf("first seed: %llu\n", static_cast<unsigned long long>(first));
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::seconds(std::min<std::int64_t>(options.seconds, 1 << 20));
  std::int64_t done = 0;
  for (; done < options.runs && std::chrono::steady_clock::now() < end; ++done) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(done);
    note_running(seed);
    limit_time(!options.in_children);
    const Program whole = random_program(seed);
    const Program program = without(whole, options.omissions);
    const auto finding = options.in_children ? try_out_in_child(program) : try_out(program);
    limit_time(false);
    if (!finding) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), finding->c_str());
    std::fflush(stdout);
    return options.shrinks ? report(name, whole, options.omissions) : 1;
  }
  if (options.in_children) {  // started again by run_in_children()
    std::printf("seed %llu went wrong, but not by itself\n",
                static_cast<unsigned long long>(first));
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%lld programs in %.1f s, nothing wrong\n", static_cast<long long>(done),
              took.count());
  return 0;
}

}  // namespace
}  // namespace nacre::simulation

int main(int argc, char** argv) {
  using namespace nacre::simulation;
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fputs("usage: simulation [--seed N] [--runs N] [--seconds N] [--without-...]\n", stderr);
    return exit_usage;
  }
  handle_crashes(argc, argv);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // memory is counted by pages that were used
  doctest::Context context;               // for the checks in random_access.cc
  context.setAsDefaultForAssertsOutOfTestCases();
  return run(argv[0], *options);
}
