#include "options.h"

#include <charconv>
#include <string_view>

#include "workload.h"

namespace nacre::bench {
namespace {

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_engine(std::string_view text, Engine& engine) {
  if (text == "mpi-io") {
    engine = Engine::mpi_io;
  } else if (text == "plain") {
    engine = Engine::plain;
  } else if (text == "memcpy") {
    engine = Engine::copy_only;
  } else if (text == "hand") {
    engine = Engine::hand;
  } else {
    return false;
  }
  return true;
}

using Hints = std::vector<std::pair<std::string, std::string>>;

bool read_hint(std::string_view text, Hints& hints) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  hints.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return true;
}

bool read_workload(std::string_view text, Options& options) {
  options.tasks.push_back({.workload = std::string(text), .label = std::string(text)});
  return find_workload(text) != nullptr;
}

bool read_text(std::string_view value, std::string& text) {
  text = value;
  return !value.empty();
}

/// Reads an option that applies to the last --workload.
bool read_task_option(std::string_view name, std::string_view value, Task& task) {
  if (name == "--label") return read_text(value, task.label);
  if (name == "--block") return read_number(value, task.block_bytes) && task.block_bytes > 0;
  if (name == "--task-bytes") return read_number(value, task.bytes) && task.bytes > 0;
  if (name == "--task-hint") return read_hint(value, task.hints);
  return false;
}

bool read_option(std::string_view name, std::string_view value, Options& options) {
  if (name == "--workload") return read_workload(value, options);
  if (name == "--engine") return read_engine(value, options.engine);
  if (name == "--bytes") return read_number(value, options.bytes);
  if (name == "--warmups") return read_number(value, options.warmups);
  if (name == "--repeats") return read_number(value, options.repeats);
  if (name == "--hint") return read_hint(value, options.hints);
  if (name == "--damage") return read_number(value, options.damaged_offset);
  if (name == "--time-limit") return read_number(value, options.time_limit);
  if (name == "--file") return read_text(value, options.file);
  if (name == "--counters") return read_text(value, options.counters);
  return !options.tasks.empty() && read_task_option(name, value, options.tasks.back());
}

bool set(bool& option, bool value = true) {
  option = value;
  return true;
}

/// Reads an option without a value.
bool read_switch(std::string_view name, Options& options) {
  std::vector<Task>& tasks = options.tasks;
  if (name == "--list") return set(options.list);
  if (name == "--sync") return set(options.sync);
  if (name == "--no-file-check") return set(options.check_file, false);
  if (name == "--write-only") return set(options.write_only);
  if (name == "--read-only" && tasks.size() > 1) return set(tasks.back().read_only);
  if (name == "--times-only" && !tasks.empty()) return set(tasks.back().times_only);
  return false;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (read_switch(name, options)) continue;
    const char* const value = ++i < argc ? argv[i] : nullptr;
    if (value == nullptr || !read_option(name, value, options)) {
      options.error = "unknown option, or missing or wrong value: " + name;
      if (value != nullptr) options.error += std::string(" ") + value;
      return options;
    }
  }
  if (!options.list && options.tasks.empty()) options.error = "--workload is missing";
  if (!options.list && options.file.empty()) options.error = "--file is missing";
  return options;
}

const char* usage() {
  return "The worker of nacre-bench: a plain MPI-IO program that nacre-bench starts with mpiexec.\n"
         "  --list                       list the workloads, as JSON lines\n"
         "  --workload NAME              workload to run; repeatable\n"
         "  --label TEXT                 name of the preceding workload in the output\n"
         "  --block BYTES                block size of the preceding workload (interleaved, "
         "pieces)\n"
         "  --task-bytes N               approximate file size of the preceding workload\n"
         "  --task-hint KEY=VALUE        hint for the preceding workload; repeatable\n"
         "  --read-only                  the preceding workload, not the first: only read the file "
         "of "
         "the workload before it\n"
         "  --times-only                 the preceding workload: measure no memory, print no info\n"
         "  --file PATH                  file to create, write, read and delete\n"
         "  --bytes N                    approximate file size\n"
         "  --engine mpi-io|plain|memcpy|hand\n"
         "  --warmups N --repeats N      warm-up repeats, counted repeats\n"
         "  --hint KEY=VALUE             hint for MPI_File_open; repeatable\n"
         "  --sync                       call MPI_File_sync (fsync) before the close, and time it\n"
         "  --write-only                 do not read through MPI-IO\n"
         "  --no-file-check              do not check the file with plain reads\n"
         "  --counters XATTR             counters on the file's directory: reset before each pass, "
         "printed after it\n"
         "  --time-limit SECONDS         end each rank after this time\n"
         "  --damage OFFSET              for tests: change a byte of the file after the write\n";
}

}  // namespace nacre::bench
