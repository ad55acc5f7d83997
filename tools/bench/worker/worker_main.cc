// The worker of nacre-bench: runs workloads, checks every byte, and prints the measurements as JSON
// lines. It is a plain MPI-IO program that does not know Nacre.
//
// Exit status: 0: success; 1: wrong command line; 2: a call failed; 3: wrong bytes.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "engine.h"
#include "json.h"
#include "mpi_support.h"
#include "options.h"
#include "pattern.h"
#include "resources.h"
#include "workload.h"

namespace nacre::bench {
namespace {

constexpr int exit_usage = 1;
constexpr int exit_wrong_bytes = 3;
constexpr std::byte untouched{0xa5};

/// Returns the number of wrong bytes on this rank, and prints the first to standard error.
std::int64_t report(const std::optional<Mismatch>& mismatch, const char* where) {
  if (!mismatch) return 0;
  std::fprintf(stderr, "nacre-bench worker: wrong bytes %s: %lld, the first at file offset %lld\n",
               where, static_cast<long long>(mismatch->wrong_bytes),
               static_cast<long long>(mismatch->first_offset));
  return mismatch->wrong_bytes;
}

std::int64_t check_buffer(const Access& access, std::span<const std::byte> buffer,
                          std::uint64_t seed) {
  std::optional<Mismatch> all;
  access.runs([&](const Run& run) {
    const auto found =
        check_pattern(buffer.subspan(run.buffer_offset, run.length), run.file_offset, seed);
    if (!found) return;
    if (!all) all = Mismatch{found->first_offset, 0};
    all->wrong_bytes += found->wrong_bytes;
  });
  return report(all, "in the buffer that was read");
}

/// Checks that a read did not change the bytes between the runs, such as ghost cells and other
/// variables, which were `untouched` before it. Overwrites the runs in the buffer.
std::int64_t check_gaps(const Access& access, std::span<std::byte> buffer) {
  access.runs([&](const Run& run) {
    std::fill_n(buffer.begin() + static_cast<std::ptrdiff_t>(run.buffer_offset), run.length,
                untouched);
  });
  const auto kept = std::count(buffer.begin(), buffer.end(), untouched);
  const auto wrong = static_cast<std::int64_t>(buffer.size()) - kept;
  if (wrong != 0) {
    std::fprintf(
        stderr, "nacre-bench worker: the read changed bytes of the buffer outside its runs: %lld\n",
        static_cast<long long>(wrong));
  }
  return wrong;
}

/// Checks this rank's share of the file with plain reads, to find bytes that an MPI-IO library
/// writes to wrong places and finds there again.
std::int64_t check_file(const std::string& path, const Geometry& geometry, std::uint64_t seed) {
  std::int64_t wrong = 0;
  contiguous_share(geometry).runs([&](const Run& share) {
    std::vector<std::byte> bytes(std::min<std::size_t>(share.length, std::size_t{4} << 20));
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::int64_t offset = share.file_offset;
    const std::int64_t end = offset + static_cast<std::int64_t>(share.length);
    while (offset < end) {
      const auto wish = std::min(bytes.size(), static_cast<std::size_t>(end - offset));
      const ssize_t got = ::pread(file, bytes.data(), wish, offset);
      if (got <= 0) {
        wrong += report(Mismatch{offset, end - offset}, "in the file, which is too short");
        break;
      }
      const std::span<const std::byte> seen(bytes.data(), static_cast<std::size_t>(got));
      wrong += report(check_pattern(seen, offset, seed), "in the file");
      offset += got;
    }
    if (file >= 0) ::close(file);
  });
  struct stat status {};
  if (geometry.rank == 0 && ::stat(path.c_str(), &status) == 0 && status.st_size > geometry.bytes) {
    wrong += report(Mismatch{geometry.bytes, status.st_size - geometry.bytes},
                    "after the expected end of the file");
  }
  return wrong;
}

void damage(const Options& options, std::uint64_t seed) {
  const std::byte other = ~pattern_byte(options.damaged_offset, seed);
  const int file = ::open(options.file.c_str(), O_WRONLY | O_CLOEXEC);
  const ssize_t written = ::pwrite(file, &other, 1, options.damaged_offset);
  if (written != 1) std::fprintf(stderr, "nacre-bench worker: --damage: the write failed\n");
  ::close(file);
}

std::string directory_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/') + 1) + ".";
}

void reset_counters(const Options& options) {
  const std::string directory = directory_of(options.file);
  if (::setxattr(directory.c_str(), options.counters.c_str(), "0", 1, 0) != 0) {
    std::fprintf(stderr, "nacre-bench worker: --counters: cannot set %s on %s\n",
                 options.counters.c_str(), directory.c_str());
  }
}

/// The counters as JSON; empty if they cannot be read.
std::string read_counters(const Options& options) {
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t length = ::getxattr(directory_of(options.file).c_str(), options.counters.c_str(),
                                    text.data(), text.size());
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

void print_start(const Options& options, int ranks) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const std::string_view text(version.data());
  JsonObject line;
  line.add("type", "start")
      .add("mpi", text.substr(0, text.find('\n')))
      .add("ranks", std::int64_t{ranks})
      .add("file", std::string_view(options.file));
  line.print();
}

class WorkloadRun {
 public:
  /// `task` is one of `options.tasks`.
  WorkloadRun(Options options, const Task& task, const MpiScope& mpi)
      : options_(std::move(options)),
        workload_(*find_workload(task.workload)),
        label_(task.label),
        read_only_(task.read_only),
        times_only_(task.times_only),
        rank_(mpi.rank) {
    options_.hints.insert(options_.hints.end(), task.hints.begin(), task.hints.end());
    const std::int64_t bytes = task.bytes > 0 ? task.bytes : options_.bytes;
    wish_ = file_geometry_ = Geometry{mpi.rank, mpi.ranks, bytes, task.block_bytes};
    access_ = workload_.make(wish_);
    file_geometry_.bytes = access_.file_bytes;
    if (options_.engine == Engine::plain || options_.engine == Engine::copy_only) {
      access_ = contiguous_share(file_geometry_);
    }
    buffer_.resize(access_.buffer_bytes);
  }

  /// Runs all repeats, and removes the file afterwards unless `keep_file`. Returns the number of
  /// wrong bytes on all ranks. Collective.
  std::int64_t run(bool keep_file) {
    double wrong = 0;
    const auto pass = make_file_pass(options_, {workload_, wish_, access_});
    reset_peak_memory();
    const Memory before = memory();
    baseline_ = before.resident - before.file_pages;
    for (int i = 0; i < options_.warmups + options_.repeats; ++i) wrong += repeat(*pass, i);
    if (options_.engine == Engine::mpi_io && !times_only_) print_end();
    if (!keep_file) unlink_file();
    return static_cast<std::int64_t>(wrong);
  }

 private:
  double repeat(FilePass& pass, int i) {
    // A file that is only read has the bytes of the last repeat of the preceding task.
    const int written_by = read_only_ ? options_.warmups + options_.repeats - 1 : i;
    const auto seed = static_cast<std::uint64_t>(written_by) + 1;
    const bool first = i == 0;
    std::int64_t wrong = 0;
    JsonObject line;
    line.add("type", "sample")
        .add("workload", label_)
        .add("repeat", std::int64_t{i})
        .add("warmup", i < options_.warmups)
        .add("bytes", access_.file_bytes);
    if (!read_only_) wrong += write(line, pass, seed, first);
    if (!options_.write_only) {
      std::fill(buffer_.begin(), buffer_.end(), untouched);
      add_pass(line, pass, Direction::read, first);
      wrong += check_buffer(access_, buffer_, seed);
      if (first) wrong += check_gaps(access_, buffer_);
    }
    const double wrong_on_all = reduce_sum(static_cast<double>(wrong));
    line.add("wrong_bytes", static_cast<std::int64_t>(wrong_on_all));
    if (rank_ == 0) line.print();
    return wrong_on_all;
  }

  /// Returns the number of wrong bytes that this rank finds in the file.
  std::int64_t write(JsonObject& line, FilePass& pass, std::uint64_t seed, bool first) {
    access_.runs([&](const Run& run) {
      fill_pattern(std::span(buffer_).subspan(run.buffer_offset, run.length), run.file_offset,
                   seed);
    });
    unlink_file();
    add_pass(line, pass, Direction::write, first);
    if (options_.damaged_offset >= 0 && rank_ == 0) damage(options_, seed);
    MPI_Barrier(MPI_COMM_WORLD);
    const bool checks_file = first && options_.check_file && options_.engine != Engine::copy_only;
    return checks_file ? check_file(options_.file, file_geometry_, seed) : 0;
  }

  void add_pass(JsonObject& line, FilePass& pass, Direction direction, bool first) {
    const std::string name = direction == Direction::write ? "write" : "read";
    const bool counts = rank_ == 0 && !options_.counters.empty();
    if (counts) reset_counters(options_);
    line.add(name, summarise(pass_of(pass, direction, first && !times_only_), baseline_));
    if (counts) line.add(name + "_counters", read_counters(options_));
  }

  Measurement pass_of(FilePass& pass, Direction direction, bool inspect_memory) {
    PassJob job{options_, access_, buffer_, direction, inspect_memory};
    Measurement result = run_pass(pass, job);
    // Inspected in the first repeat only, because it is slow. The result holds for all repeats.
    std::int64_t& others = direction == Direction::write ? others_writing_ : others_reading_;
    if (inspect_memory) others = result.others_memory;
    result.others_memory = others;
    return result;
  }

  void print_end() {
    JsonObject line;
    line.add("type", "end")
        .add("workload", label_)
        .add("info", info_in_use(options_))
        .add("loaded", loaded_libraries());
    if (rank_ == 0) line.print();
  }

  void unlink_file() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) ::unlink(options_.file.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
  }

  Options options_;
  const Workload& workload_;
  std::string label_;
  bool read_only_;
  bool times_only_;
  int rank_;
  Geometry wish_;
  Geometry file_geometry_;
  Access access_;
  std::vector<std::byte> buffer_;
  std::int64_t baseline_ = 0;
  std::int64_t others_writing_ = 0;
  std::int64_t others_reading_ = 0;
};

int list_workloads() {
  for (const Workload& workload : all_workloads()) {
    JsonObject()
        .add("name", workload.name)
        .add("summary", workload.summary)
        .add("ranks", workload.rank_count == workload::RankCount::square ? "square" : "any")
        .add("hand", find_hand_pass(workload) != nullptr)
        .print();
  }
  return 0;
}

/// Why a workload cannot run; empty if it can.
std::string why_not(const Options& options, const Workload& workload, int ranks) {
  if (!workload.runs_at(ranks)) return "needs a square number of ranks";
  if (options.engine == Engine::hand && find_hand_pass(workload) == nullptr)
    return "has no hand-written version";
  return "";
}

int run_workloads(const Options& options, const MpiScope& mpi) {
  for (const Task& task : options.tasks) {
    const std::string why = why_not(options, *find_workload(task.workload), mpi.ranks);
    if (why.empty()) continue;
    if (mpi.rank == 0)
      std::fprintf(stderr, "nacre-bench worker: %s %s\n", task.workload.c_str(), why.c_str());
    return exit_usage;
  }
  if (mpi.rank == 0) print_start(options, mpi.ranks);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < options.tasks.size(); ++i) {
    const bool keep_file = i + 1 < options.tasks.size() && options.tasks[i + 1].read_only;
    wrong += WorkloadRun(options, options.tasks[i], mpi).run(keep_file);
  }
  return wrong == 0 ? 0 : exit_wrong_bytes;
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (!options.error.empty()) {
    std::fprintf(stderr, "nacre-bench worker: %s\n%s", options.error.c_str(), usage());
    return exit_usage;
  }
  if (options.list) return list_workloads();
  ::alarm(options.time_limit);
  const MpiScope mpi(&argc, &argv);
  return run_workloads(options, mpi);
}

}  // namespace
}  // namespace nacre::bench

int main(int argc, char** argv) { return nacre::bench::run(argc, argv); }
