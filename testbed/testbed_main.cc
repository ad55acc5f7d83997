// nacre-testbed: mounts a Lustre-shaped file system once for each simulated node, until SIGTERM.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <getopt.h>

#include "base/parse_number.h"
#include "plan/stripe_options.h"
#include "testbed/fuse_mount.h"
#include "testbed/namespace.h"

namespace nacre::testbed {
namespace {

constexpr const char* usage =
    "usage: nacre-testbed [--nodes N] [--osts C] [--stripe-count K] [--stripe-size BYTES] "
    "DIRECTORY\n"
    "\n"
    "Mounts a Lustre-shaped file system in memory on DIRECTORY/0, DIRECTORY/1 and so on, a "
    "simulated\n"
    "node each, says \"ready\" and serves them until it gets SIGTERM or SIGINT; then all is gone.\n"
    "\n"
    "  --nodes N            mounts (default 2)\n"
    "  --osts C             OSTs that files are striped over (default 8)\n"
    "  --stripe-count K     stripes of files that ask for nothing (default 1)\n"
    "  --stripe-size BYTES  of these, a multiple of 64k (default 1m)\n";

constexpr int exit_usage = 2;

struct Options {
  std::int64_t nodes = 2;
  std::int64_t osts = 8;
  std::int64_t stripe_count = 1;
  std::int64_t stripe_size = 1 << 20;
  std::string directory;
};

std::optional<Options> wrong(const std::string& what) {
  std::fprintf(stderr, "nacre-testbed: %s\n\n%s", what.c_str(), usage);
  return std::nullopt;
}

/// Reads `text` as what `option` takes, from 1 to `most`.
std::optional<std::int64_t> number(const char* option, const char* text, std::int64_t most) {
  const auto value = parse_scaled_number<std::int64_t>(text);
  if (value && *value >= 1 && *value <= most) return value;
  wrong(std::string("--") + option + " " + text + ": it takes 1 to " + std::to_string(most));
  return std::nullopt;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  struct Setting {
    const char* name;
    std::int64_t* value;
    std::int64_t most;
  };
  const std::vector<Setting> settings{
      {"nodes", &options.nodes, 256},
      {"osts", &options.osts, plan::stripe_count_max},
      {"stripe-count", &options.stripe_count, plan::stripe_count_max},
      {"stripe-size", &options.stripe_size, plan::stripe_size_max}};
  std::vector<option> table;
  for (const Setting& setting : settings) {
    table.push_back({setting.name, required_argument, nullptr, 0});
  }
  table.push_back({nullptr, 0, nullptr, 0});
  int index = 0;
  for (int got = 0; (got = getopt_long(argc, argv, "", table.data(), &index)) != -1;) {
    if (got != 0) return wrong("see below");
    const Setting& setting = settings[static_cast<std::size_t>(index)];
    const auto value = number(setting.name, optarg, setting.most);
    if (!value) return std::nullopt;
    *setting.value = *value;
  }
  if (optind + 1 != argc) return wrong("one directory is to be named");
  if (options.stripe_size % plan::stripe_size_unit != 0) {
    return wrong("--stripe-size " + std::to_string(options.stripe_size) + " is no multiple of 64k");
  }
  options.directory = argv[optind];
  return options;
}

int serve(const Options& options) {
  // Threads that are begun from here on have them blocked too.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigprocmask(SIG_BLOCK, &ending, nullptr);

  Namespace names({static_cast<std::int32_t>(options.osts),
                   static_cast<std::int32_t>(options.stripe_count), options.stripe_size});
  std::vector<std::unique_ptr<FuseMount>> mounts;
  for (int node = 0; node < options.nodes; ++node) {
    const std::string directory = options.directory + "/" + std::to_string(node);
    std::error_code failure;
    std::filesystem::create_directories(directory, failure);
    auto mount = FuseMount::mount(names, node, directory);
    if (!mount) {
      std::fprintf(stderr, "nacre-testbed: %s\n", mount.error().message.c_str());
      return 1;
    }
    mounts.push_back(*std::move(mount));
  }
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ending, &signal);
  return 0;
}

}  // namespace
}  // namespace nacre::testbed

int main(int argc, char** argv) {
  using namespace nacre::testbed;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
  }
  const auto options = parse(argc, argv);
  return options ? serve(*options) : exit_usage;
}
