// Runs random programs with faults in virtual time, and shrinks the first one that goes wrong.
//
//   simulation --seed 1 --runs 1000         programs 1 to 1000
//   simulation --seconds 60                 from a fresh seed, which is printed
//   simulation --seed 7 --runs 1 --without-steps 0,2 --without-store-faults 1
#define DOCTEST_CONFIG_IMPLEMENT
#include <array>
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
#include <sys/time.h>
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
  Omissions omissions;
};

std::uint64_t running_seed = 0;

/// A program that crashes, or waits outside of virtual time.
void report_crash(int signal) {
  std::array<char, 80> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "signal %d in the program of seed %llu\n", signal,
                    static_cast<unsigned long long>(running_seed));
  static_cast<void>(!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)));
  _exit(1);
}

void limit_time(bool is_limited) {
  const itimerval cpu_time{{}, {is_limited ? cpu_seconds_max : 0, 0}};
  setitimer(ITIMER_PROF, &cpu_time, nullptr);
  alarm(is_limited ? seconds_max : 0);
}

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

std::optional<Options> parse(int argc, char** argv) {
  const std::array<option, 7> table{{{"seed", required_argument, nullptr, 's'},
                                     {"runs", required_argument, nullptr, 'r'},
                                     {"seconds", required_argument, nullptr, 't'},
                                     {"without-steps", required_argument, nullptr, '0'},
                                     {"without-store-faults", required_argument, nullptr, '1'},
                                     {"without-server-faults", required_argument, nullptr, '2'},
                                     {nullptr, 0, nullptr, 0}}};
  Options options;
  bool is_valid = true;
  for (int got = 0; (got = getopt_long(argc, argv, "", table.data(), nullptr)) != -1;) {
    if (got == 's') {
      options.seed = parse_number<std::uint64_t>(optarg);
      is_valid = is_valid && options.seed.has_value();
    } else if (got == 'r') {
      is_valid = take_number(optarg, options.runs) && is_valid;
    } else if (got == 't') {
      is_valid = take_number(optarg, options.seconds) && is_valid;
    } else if (got == '0') {
      is_valid = take_list(optarg, options.omissions.steps) && is_valid;
    } else if (got == '1') {
      is_valid = take_list(optarg, options.omissions.store_faults) && is_valid;
    } else if (got == '2') {
      is_valid = take_list(optarg, options.omissions.server_faults) && is_valid;
    } else {
      is_valid = false;
    }
  }
  return is_valid && optind == argc ? std::optional(options) : std::nullopt;
}

std::string listed(const char* option, const std::vector<std::size_t>& parts) {
  std::string text;
  for (const std::size_t part : parts) text += (text.empty() ? "" : ",") + std::to_string(part);
  return text.empty() ? "" : std::string(" --without-") + option + " " + text;
}

int report(const char* name, const Program& program, const std::string& finding) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(program.seed), finding.c_str());
  std::fflush(stdout);
  const Omissions omissions = shrink(program);
  const Program smaller = without(program, omissions);
  std::printf("%s%s%s\nrepeat: %s --seed %llu --runs 1%s%s%s\n", described(smaller).c_str(),
              errors_of(smaller).c_str(), try_out(smaller).value_or("").c_str(), name,
              static_cast<unsigned long long>(program.seed),
              listed("steps", omissions.steps).c_str(),
              listed("store-faults", omissions.store_faults).c_str(),
              listed("server-faults", omissions.server_faults).c_str());
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
    running_seed = first + static_cast<std::uint64_t>(done);
    limit_time(true);
    const Program program = without(random_program(running_seed), options.omissions);
    if (const std::optional<std::string> finding = try_out(program)) {
      limit_time(false);
      return report(name, program, *finding);
    }
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
  for (const int signal : {SIGSEGV, SIGABRT, SIGALRM, SIGPROF}) std::signal(signal, report_crash);
  doctest::Context context;  // for the checks in random_access.cc
  context.setAsDefaultForAssertsOutOfTestCases();
  return run(argv[0], *options);
}
