// nacre-testbed: emulates Lustre. Mounts a file system for each emulated node until SIGTERM.
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <getopt.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "machine/machine_file.h"
#include "sim/files/namespace.h"
#include "store/system/text_file.h"
#include "testbed/fuse_mount.h"

namespace nacre::testbed {
namespace {

constexpr const char* usage =
    "usage: nacre-testbed [--machine FILE] [--set NAME=VALUE]... [--nodes N] [--osts C]\n"
    "                     [--objects PATH] DIRECTORY\n"
    "\n"
    "Emulates a Lustre file system. Mounts it for each emulated client node on DIRECTORY/0,\n"
    "DIRECTORY/1 and so on, prints \"ready\" and serves the mounts until SIGTERM or SIGINT, which\n"
    "discards all files.\n"
    "\n"
    "  --machine FILE    read settings from a TOML file; osts.count is count in section [osts]\n"
    "  --set NAME=VALUE  change one setting, for example osts.count=8; later options override\n"
    "                    earlier ones\n"
    "  --nodes N         same as --set nodes.count=N\n"
    "  --osts C          same as --set osts.count=C\n"
    "  --objects PATH    keep the files' data in this directory instead of in memory; it must be\n"
    "                    empty, or is created\n"
    "\n"
    "Settings and their defaults (a bandwidth of 0 is unlimited):\n";

constexpr int exit_usage = 2;

// What one process emulates.
constexpr std::int64_t nodes_max = 256;
constexpr std::int64_t osts_max = 512;

struct Options {
  Machine machine;
  std::string directory;
  std::optional<std::string> objects = {};  ///< unset: in memory
};

Error wrong(const std::string& what) { return Error{ErrorClass::arg, 0, what}; }

Status take_file(Machine& emulated, const std::string& path) {
  const Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return text.error();
  if (!text->has_value()) return wrong("--machine " + path + ": there is no such file");
  machine::MachineFile file{.machine = emulated};
  Status read = machine::read_machine(file, **text, path);
  emulated = file.machine;
  return read;
}

Status apply_assignment(Machine& emulated, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return wrong("--set " + text + ": expected NAME=VALUE");
  return machine::set_machine(emulated, text.substr(0, equals), text.substr(equals + 1));
}

Status check_size(const Machine& machine) {
  const auto check = [](std::string_view name, std::int64_t value, std::int64_t max) -> Status {
    if (value <= max) return {};
    return wrong(std::string(name) + " = " + std::to_string(value) +
                 ": the testbed emulates at most " + std::to_string(max));
  };
  if (machine.stripe_count == 0) {
    return wrong("striping.count = 0: files on the testbed have layouts, so it takes 1 or more");
  }
  Status nodes = check("nodes.count", machine.nodes, nodes_max);
  return nodes ? check("osts.count", machine.osts, osts_max) : nodes;
}

Result<Options> parse(int argc, char** argv) {
  const std::array<option, 6> table{{{"machine", required_argument, nullptr, 'm'},
                                     {"set", required_argument, nullptr, 's'},
                                     {"nodes", required_argument, nullptr, 'n'},
                                     {"osts", required_argument, nullptr, 'o'},
                                     {"objects", required_argument, nullptr, 'p'},
                                     {nullptr, 0, nullptr, 0}}};
  Options options;
  for (int got = 0; (got = getopt_long(argc, argv, "", table.data(), nullptr)) != -1;) {
    if (got == 'p') {
      options.objects = optarg;
      continue;
    }
    Machine& emulated = options.machine;
    Status taken = wrong("invalid option; see nacre-testbed --help");
    if (got == 'm') taken = take_file(emulated, optarg);
    if (got == 's') taken = apply_assignment(emulated, optarg);
    if (got == 'n') taken = machine::set_machine(emulated, "nodes.count", optarg);
    if (got == 'o') taken = machine::set_machine(emulated, "osts.count", optarg);
    if (!taken) return taken.error();
  }
  if (Status emulated = check_size(options.machine); !emulated) return emulated.error();
  if (optind + 1 != argc) return wrong("expected one DIRECTORY; see nacre-testbed --help");
  options.directory = argv[optind];
  return options;
}

int fail(const Error& error, int code) {
  std::fprintf(stderr, "nacre-testbed: %s\n", error.message.c_str());
  return code;
}

bool is_within(const std::string& inner, const std::string& outer) {
  std::error_code ignored;
  const auto way = std::filesystem::relative(inner, outer, ignored);
  return !way.empty() && *way.begin() != "..";
}

Result<ObjectStore> open_objects(const Options& options) {
  if (!options.objects) return ObjectStore();
  // Objects below a mount would be files of the testbed itself.
  if (is_within(*options.objects, options.directory)) {
    return wrong("--objects " + *options.objects + " is within " + options.directory +
                 ", where it is mounted; name a directory elsewhere");
  }
  // Each access in progress has an open file.
  rlimit open_files{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  open_files.rlim_cur = open_files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &open_files);
  return ObjectStore::on_disk(*options.objects, options.machine.osts);
}

int serve(const Options& options) {
  // Threads that start later inherit the signal mask.
  sigset_t end_signals;
  sigemptyset(&end_signals);
  sigaddset(&end_signals, SIGTERM);
  sigaddset(&end_signals, SIGINT);
  sigprocmask(SIG_BLOCK, &end_signals, nullptr);

  // High priority, so that completed requests are reported on time. Errors are ignored: it needs
  // privileges.
  constexpr int urgent = -10;
  static_cast<void>(setpriority(PRIO_PROCESS, 0, urgent));

  Result<ObjectStore> objects = open_objects(options);
  if (!objects) return fail(objects.error(), exit_usage);
  Namespace names(options.machine, *std::move(objects));
  std::vector<std::unique_ptr<FuseMount>> mounts;
  for (int node = 0; node < options.machine.nodes; ++node) {
    const std::string directory = options.directory + "/" + std::to_string(node);
    std::error_code failure;
    std::filesystem::create_directories(directory, failure);
    auto mount = FuseMount::mount(names, node, directory);
    if (!mount) return fail(mount.error(), 1);
    mounts.push_back(*std::move(mount));
  }
  names.costs().deduct(mounts.front()->cost_of_call());
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&end_signals, &signal);
  return 0;
}

}  // namespace
}  // namespace nacre::testbed

int main(int argc, char** argv) {
  using namespace nacre::testbed;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::fputs((std::string(usage) + nacre::machine::describe_machine({})).c_str(), stdout);
      return 0;
    }
  }
  // Waits end on time, not up to 50 us later. All threads inherit this.
  prctl(PR_SET_TIMERSLACK, 1);
  const nacre::Result<Options> options = parse(argc, argv);
  return options ? serve(*options) : fail(options.error(), exit_usage);
}
