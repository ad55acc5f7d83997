#include "posix/report/process_report.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "posix/report/line_text.h"
#include "posix/system/clock.h"

namespace nacre::posix {
namespace {

constexpr std::size_t line_bytes_max = 1 << 20;
constexpr std::size_t program_bytes_max = 4096;
constexpr std::size_t variable_bytes_max = 256;

/// What a line needs to be written: too large for the stack of a signal handler.
struct Workspace {
  std::array<char, line_bytes_max> line;
  std::array<char, program_bytes_max> program;
  std::array<std::uint32_t, CountedFiles::file_count_max> numbers;
  FileCounts others;
};

struct Launch {
  std::array<char, variable_bytes_max> run{};
  std::array<char, variable_bytes_max> job{};
  int rank = -1;
  int ranks = 1;
};
constinit Launch launch;

// Of Hydra, PMIx, Open MPI, Slurm, Flux, PALS and jsrun.
constexpr std::array<const char*, 7> rank_variables{
    "PMI_RANK",       "PMIX_RANK",   "OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
    "FLUX_TASK_RANK", "PALS_RANKID", "JSM_NAMESPACE_RANK"};
constexpr std::array<const char*, 5> size_variables{
    "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE"};
constexpr std::array<const char*, 4> job_variables{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                                   "FLUX_JOB_ID"};

const char* first_set(std::span<const char* const> names) {
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

int number_of(std::string_view text, int otherwise) {
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void keep(std::array<char, variable_bytes_max>& to, const char* text) {
  const std::size_t bytes = std::min(std::strlen(text), to.size() - 1);
  std::memcpy(to.data(), text, bytes);
}

void add_program(LineText& line, std::span<char> words) {
  const auto file =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  const ssize_t size = file < 0 ? 0 : system_read(file, words.data(), words.size(), 0);
  if (file >= 0) syscall(SYS_close, file);
  std::string_view rest{words.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  line.add("[");
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const auto end = std::min(rest.find('\0'), rest.size());
    line.add(is_first ? "" : ",").add_string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  line.add("]");
}

void add_call(LineText& line, std::string_view name, const CallCounts& counts) {
  line.add_string(name).add(":{\"calls\":").add(counts.calls.get());
  line.add(",\"seconds\":").add_seconds(counts.nanoseconds.get()).add("}");
}

void add_access(LineText& line, std::string_view name, const AccessCounts& counts) {
  line.add_string(name).add(":{\"calls\":").add(counts.calls.get());
  line.add(",\"bytes\":").add(counts.bytes.get());
  line.add(",\"seconds\":").add_seconds(counts.nanoseconds.get());
  line.add(",\"file_calls\":").add(counts.file_calls.get());
  line.add(",\"file_bytes\":").add(counts.file_bytes.get());
  line.add(",\"file_call_sizes\":{");
  bool is_first = true;
  for (std::size_t i = 0; i < counts.sizes.size(); ++i) {
    if (counts.sizes[i].get() == 0) continue;
    line.add(is_first ? "\"" : ",\"").add(i == 0 ? 0 : std::int64_t{1} << (i - 1));
    line.add("\":").add(counts.sizes[i].get());
    is_first = false;
  }
  line.add("}}");
}

/// `files`: how many files these counts are of.
void add_file(LineText& line, std::string_view name, FileCounts& counts, std::uint32_t files) {
  line.add("{\"file\":").add_string(name).add(",\"files\":").add(files).add(",\"calls\":{");
  bool is_first = true;
  for (std::size_t i = 0; i < counts.calls.size(); ++i) {
    if (counts.calls[i].calls.get() == 0) continue;
    add_call(line.add(is_first ? "" : ","), call_kind_names[i], counts.calls[i]);
    is_first = false;
  }
  line.add("},\"accesses\":{");
  is_first = true;
  for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
    if (counts.accesses[i].calls.get() == 0) continue;
    add_access(line.add(is_first ? "" : ","), access_kind_names[i], counts.accesses[i]);
    is_first = false;
  }
  line.add("}}");
}

void add_to(FileCounts& sum, const FileCounts& more) {
  for (std::size_t i = 0; i < sum.calls.size(); ++i) {
    sum.calls[i].calls.add(more.calls[i].calls.get());
    sum.calls[i].nanoseconds.add(more.calls[i].nanoseconds.get());
  }
  for (std::size_t i = 0; i < sum.accesses.size(); ++i) {
    AccessCounts& to = sum.accesses[i];
    const AccessCounts& from = more.accesses[i];
    to.calls.add(from.calls.get());
    to.bytes.add(from.bytes.get());
    to.nanoseconds.add(from.nanoseconds.get());
    to.file_calls.add(from.file_calls.get());
    to.file_bytes.add(from.file_bytes.get());
    for (std::size_t size = 0; size < to.sizes.size(); ++size)
      to.sizes[size].add(from.sizes[size].get());
  }
}

bool is_used(const FileCounts& counts) {
  return std::any_of(counts.calls.begin(), counts.calls.end(),
                     [](const CallCounts& one) { return one.calls.get() != 0; }) ||
         std::any_of(counts.accesses.begin(), counts.accesses.end(),
                     [](const AccessCounts& one) { return one.calls.get() != 0; });
}

/// Puts the numbers of the used files into `room`, those with the most time first.
std::span<std::uint32_t> used_files(CountedFiles& files, std::span<std::uint32_t> room) {
  std::size_t used = 0;
  for (std::uint32_t number = 1; number <= files.count() && used < room.size(); ++number) {
    if (is_used(files.counts(number))) room[used++] = number;
  }
  const auto found = room.first(used);
  const auto last = found.begin() + std::min<std::ptrdiff_t>(files_in_line_max, std::ssize(found));
  std::partial_sort(found.begin(), last, found.end(), [&](std::uint32_t a, std::uint32_t b) {
    return files.counts(a).nanoseconds() > files.counts(b).nanoseconds();
  });
  return found;
}

/// `others`: counts of zero.
void add_files(LineText& line, CountedFiles& files, std::span<const std::uint32_t> found,
               FileCounts& others) {
  std::uint32_t other_files = 0;
  bool is_first = true;
  line.add("\"files\":[");
  for (std::size_t i = 0; i < found.size(); ++i) {
    CountedFile& file = files.file(found[i]);
    const bool is_several = files.is_full() && found[i] == files.count();
    if (i < files_in_line_max && !is_several) {
      add_file(line.add(is_first ? "" : ","), file.name(), file.counts, 1);
      is_first = false;
    } else {
      add_to(others, file.counts);
      ++other_files;
    }
  }
  line.add("]");
  if (other_files > 0) add_file(line.add(",\"other_files\":"), "", others, other_files);
}

void add_launch(LineText& line, std::int64_t started, std::span<char> words) {
  utsname host{};
  uname(&host);
  line.add("{\"schema\":2,\"interface\":\"posix\",\"run\":").add_string(launch.run.data());
  line.add(",\"job\":").add_string(launch.job.data());
  line.add(",\"version\":").add_string(NACRE_VERSION);
  line.add(",\"host\":").add_string(host.nodename).add(",\"process\":").add(system_process());
  line.add(",\"rank\":").add(launch.rank).add(",\"ranks\":").add(launch.ranks);
  line.add(",\"program\":");
  add_program(line, words);
  line.add(",\"started_at\":").add_seconds(started);
  line.add(",\"ended_at\":").add_seconds(now_nanoseconds(CLOCK_REALTIME)).add(",\"elsewhere\":{");
}

/// What a line is of.
struct Contents {
  CountedFiles& files;
  std::span<const std::uint32_t> found;
  std::int64_t started;
};

void write_line(const char* path, const Contents& contents, Workspace& space) {
  CountedFiles& files = contents.files;
  LineText line(space.line);
  add_launch(line, contents.started, space.program);
  add_call(line, "failed_opens", files.elsewhere.failed_opens);
  add_call(line.add(","), "failed_stats", files.elsewhere.failed_stats);
  add_call(line.add(","), "stats", files.elsewhere.stats);
  line.add("},");
  add_files(line, files, contents.found, space.others);
  line.add("}\n");
  const int error = line.is_complete() ? append_once(path, line.text()) : E2BIG;
  if (error == 0) return;
  std::array<char, 512> room;  // NOLINT: filled next
  LineText warning(room);
  warning.add("nacre: the calls of POSIX of process ").add(system_process());
  constexpr std::size_t path_bytes_max = 256;
  warning.add(" are missing in the report ");
  warning.add_string(std::string_view(path).substr(0, path_bytes_max)).add(" (NACRE_REPORT): ");
  print_warning(warning.add_error(error).add("\n").text());
}

/// The name that the lines of MPI-IO give the launch; none without these variables.
void name_run() {
  const char* const run = std::getenv("NACRE_RUN");
  const char* const step = std::getenv("SLURM_STEP_ID");
  if (run != nullptr) {
    keep(launch.run, run);
  } else if (step != nullptr && launch.job[0] != '\0') {
    LineText line(std::span(launch.run).first(variable_bytes_max - 1));
    line.add(launch.job.data()).add(".").add(step);
  }
}

}  // namespace

void note_launch() {
  keep(launch.job, first_set(job_variables));
  name_run();
  launch.rank = number_of(first_set(rank_variables), -1);
  if (launch.rank >= 0) launch.ranks = number_of(first_set(size_variables), 1);
}

int launched_rank() { return launch.rank; }

void write_process_report(const char* path, CountedFiles& files, std::int64_t started) {
  if (files.count() == 0) return;
  std::byte* const memory = map_memory(sizeof(Workspace));
  if (memory == nullptr) return;
  auto& space = *new (memory) Workspace;
  const auto found = used_files(files, space.numbers);
  if (!found.empty()) write_line(path, {files, found, started}, space);
  unmap_memory(memory, sizeof(Workspace));
}

}  // namespace nacre::posix
