#include "run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "common/field_bytes.h"
#include "common/of_ranks_json.h"
#include "content.h"
#include "sim/job/job.h"

namespace nacre::simulate {
namespace {

using plan::Direction;
using sim::SimulatedTime;

constexpr SimulatedTime year = SimulatedTime{365} * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t address_space_bytes = std::int64_t{32} << 40U;
constexpr std::size_t stack_bytes = 128 << 10;

/// What the program does, one after the other. All ranks agree at the end of each stage.
constexpr std::array<std::string_view, 7> stage_names{"open",   "view", "write", "sync",
                                                      "reopen", "read", "close"};
enum Stage : std::size_t {
  open_stage,
  view_stage,
  write_stage,
  sync_stage,
  reopen_stage,
  read_stage,
  close_stage
};

/// Ends of the stages, over all ranks, and the first error.
struct Progress {
  std::array<SimulatedTime, stage_names.size()> ends{};
  std::optional<Error> error;
  std::int64_t bytes_written = 0;  // of all ranks
  std::int64_t bytes_read = 0;
  std::int64_t bytes_checked = 0;      // of the file
  std::int64_t node_shared_bytes = 0;  // the largest memory that ranks of a node share
  std::array<int, stage_names.size()> ranks_past{};  // by stage

  /// A rank has ended a stage.
  void end(std::size_t stage, SimulatedTime now) {
    ends[stage] = std::max(ends[stage], now);
    ++ranks_past[stage];
  }
  void note(std::size_t stage, SimulatedTime now, const std::optional<Error>& failed) {
    ends[stage] = std::max(ends[stage], now);
    if (failed && !error) error = failed;
  }
  void note(std::size_t stage, SimulatedTime now, const Status& status) {
    note(stage, now, status ? std::nullopt : std::optional(status.error()));
  }
};

plan::NodeMap nodes_of(const Options& options) {
  std::vector<plan::NodeMap::Run> runs;
  runs.reserve(static_cast<std::size_t>(options.nodes));
  for (int node = 0; node < options.nodes; ++node) {
    runs.push_back({static_cast<std::uint64_t>(node + 1), options.ranks_of(node)});
  }
  return plan::NodeMap::from_runs(runs);
}

/// The buffer of a rank.
struct Buffer {
  std::span<std::byte> bytes;
  std::vector<std::byte> own;  ///< of a job with bytes; phantoms share one buffer
};

/// The program of one rank.
class Program {
 public:
  /// `content`: of a job whose bytes are checked, otherwise null.
  Program(const Options& options, Progress& progress, const Content* content)
      : options_(options), progress_(progress), content_(content) {}

  void run(sim::RankOfJob& self) {
    const sim::RankCalls calls = options_.calls_of(self.rank());
    Buffer buffer;
    if (!make_room(self, calls.buffer_bytes(), buffer)) return;
    std::shared_ptr<file::OpenFile> file = open(self, open_stage, first_mode(), options_.hints);
    if (file == nullptr) return;
    progress_.end(open_stage, self.now());
    set_first_view(self, *file, calls);
    progress_.end(view_stage, self.now());
    access_all(self, *file, buffer, {calls.writes, Direction::write, true});
    progress_.end(write_stage, self.now());
    if (!calls.writes.empty()) progress_.note(sync_stage, self.now(), self.run(file->sync()));
    if (const std::int64_t bytes = options_.bytes_to_read(); bytes > 0 && !calls.reads.empty()) {
      // A job may read what it did not write. Sizes cost nothing. Not before the writes: the first
      // of them decides about the layout, as it did in the job.
      const Status sized = self.run(file->resize(bytes));
      progress_.note(sync_stage, self.now(), sized);
    }
    progress_.end(sync_stage, self.now());
    if (options_.reopens) {
      progress_.note(reopen_stage, self.now(), self.run(file->close()));
      if (self.rank() == 0) self.job().files().costs().drop_locks();
      file = open(self, reopen_stage, {.read = true}, options_.read_hints);
      if (file == nullptr) return;
      set_view(self, *file, calls.reads.front(), reopen_stage);
    }
    progress_.end(reopen_stage, self.now());
    const bool has_view = calls.writes.empty() || (!options_.recorded && calls.reads.size() == 1);
    access_all(self, *file, buffer, {calls.reads, Direction::read, has_view || options_.reopens});
    progress_.end(read_stage, self.now());
    progress_.note(close_stage, self.now(), self.run(file->close()));
    progress_.end(close_stage, self.now());
  }

 private:
  /// A workload that only writes opens the file for writing only, as in nacre-bench.
  [[nodiscard]] file::AccessMode first_mode() const {
    const bool reads_here = options_.only_reads || (options_.reads && !options_.reopens);
    return {.read = options_.recorded || reads_here, .write = true, .create = true};
  }
  /// Null after an error.
  std::shared_ptr<file::OpenFile> open(sim::RankOfJob& self, Stage stage,
                                       const file::AccessMode& mode, const file::InfoPairs& hints) {
    const auto opened = self.open("file", mode, hints);
    progress_.note(stage, self.now(), opened ? Status() : Status(opened.error()));
    return opened ? *opened : nullptr;
  }
  /// Gives a rank a buffer. Makes the buffer that all ranks share long enough, if bytes are
  /// phantoms.
  bool make_room(sim::RankOfJob& self, std::int64_t bytes, Buffer& buffer) {
    const std::int64_t needed = std::max<std::int64_t>(1, bytes);
    if (content_ != nullptr) {
      buffer.own.resize(static_cast<std::size_t>(needed));
      buffer.bytes = buffer.own;
      return true;
    }
    if (std::ssize(shared_buffer_) < needed) {
      const auto made = self.job().network().phantom_buffer(needed);
      progress_.note(open_stage, self.now(), made ? Status() : Status(made.error()));
      if (!made) return false;
      shared_buffer_ = *made;
    }
    buffer.bytes = shared_buffer_;
    return true;
  }

  void set_view(sim::RankOfJob& self, file::OpenFile& file, const sim::CallSeries& series,
                Stage stage) {
    const Status set = self.run(file.set_view({.map = series.view}, {}, std::nullopt));
    progress_.note(stage, self.now(), set);
  }
  void set_first_view(sim::RankOfJob& self, file::OpenFile& file, const sim::RankCalls& calls) {
    const auto& first = calls.writes.empty() ? calls.reads : calls.writes;
    set_view(self, file, first.front(), view_stage);
  }

  struct Series {
    const std::vector<sim::CallSeries>& all;
    Direction direction;
    bool has_view;  ///< the view of the first is set
  };
  void access_all(sim::RankOfJob& self, file::OpenFile& file, Buffer& buffer,
                  const Series& series) {
    const auto& [all, direction, has_view] = series;
    const Stage stage = direction == Direction::write ? write_stage : read_stage;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0 || !has_view) set_view(self, file, all[i], stage);
      for (const sim::CallSeries::Call& call : all[i].calls) {
        if (content_ != nullptr) prepare(all[i], call, buffer, direction);
        const plan::MemoryAccess memory{buffer.bytes.data() + call.buffer_offset, all[i].memory,
                                        call.bytes};
        const file::Access access{.direction = direction,
                                  .position = file::Position::explicit_offset,
                                  .offset = call.offset_bytes,
                                  .memory = memory,
                                  .converter = nullptr,
                                  .alone = true};
        make_call(self, file, access, all[i].is_collective);
        if (content_ != nullptr && direction == Direction::read) check(self, all[i], call, buffer);
      }
    }
  }
  void make_call(sim::RankOfJob& self, file::OpenFile& file, const file::Access& access,
                 bool is_collective) {
    const bool writes = access.direction == Direction::write;
    const file::Outcome outcome =
        is_collective ? self.run(file.transfer_all(access, std::nullopt)) : file.transfer(access);
    progress_.note(writes ? write_stage : read_stage, self.now(), outcome.error);
    (writes ? progress_.bytes_written : progress_.bytes_read) += outcome.bytes;
  }

  /// Fills the memory of a write. That of a read holds other bytes than those that it reads.
  void prepare(const sim::CallSeries& series, const sim::CallSeries::Call& call, Buffer& buffer,
               Direction direction) const {
    constexpr std::byte other{2};  // content is odd or 0
    if (direction == Direction::read) std::ranges::fill(buffer.bytes, other);
    if (direction == Direction::write) content_->fill(series, call, buffer.bytes);
  }
  void check(sim::RankOfJob& self, const sim::CallSeries& series, const sim::CallSeries::Call& call,
             Buffer& buffer) {
    const auto wrong = content_->first_wrong(series, call, buffer.bytes);
    if (!wrong) return;
    progress_.note(
        read_stage, self.now(),
        Status(Error{ErrorClass::io, 0,
                     "rank " + std::to_string(self.rank()) + " has read a wrong byte at offset " +
                         std::to_string(*wrong) + " of the file"}));
  }

  const Options& options_;
  Progress& progress_;
  const Content* content_;
  std::span<std::byte> shared_buffer_;
};

std::string timeline_json(const sim::BusyTimeline& busy) {
  const auto number = [](SimulatedTime time) { return std::to_string(time); };
  JsonObject json;
  json.add_number("interval_ns", busy.interval())
      .add("busy_ns", json_array(busy.intervals(), number));
  return json.text();
}

/// The busy times of one kind of resource.
std::string resource_json(std::string_view name, const std::vector<sim::BusyTimeline>& all,
                          bool with_timelines) {
  SimulatedTime sum = 0;
  SimulatedTime max = 0;
  for (const sim::BusyTimeline& one : all) {
    sum += one.total();
    max = std::max(max, one.total());
  }
  JsonObject json;
  json.add_text("name", name)
      .add_number("count", std::ssize(all))
      .add_number("busy_ns_sum", sum)
      .add_number("busy_ns_max", max);
  if (with_timelines && max > 0) json.add("timelines", json_array(all, &timeline_json));
  return json.text();
}

std::string resources_json(sim::Job& job, bool with_timelines) {
  sim::CostModel& costs = job.files().costs();
  std::vector<sim::BusyTimeline> copies;
  std::vector<sim::BusyTimeline> messages;
  std::vector<sim::BusyTimeline> shared_links;
  for (int node = 0; node < job.network().nodes().node_count(); ++node) {
    copies.push_back(job.network().copy_times(node));
    messages.push_back(job.network().message_times(node));
    if (job.machine().messages_share_link != 0) {
      shared_links.push_back(job.network().links().busy_times(node));
    }
  }
  using sim::StationKind;
  struct Resource {
    std::string_view name;
    std::vector<sim::BusyTimeline> busy;
  };
  const std::array all{Resource{"copies", std::move(copies)},
                       Resource{"messages", std::move(messages)},
                       Resource{"node links", costs.busy_times(StationKind::node_link)},
                       Resource{"shared links", std::move(shared_links)},
                       Resource{"uplinks", costs.busy_times(StationKind::uplink)},
                       Resource{"servers", costs.busy_times(StationKind::server_link)},
                       Resource{"OSTs", costs.busy_times(StationKind::ost)}};
  return json_array(
      all, [&](const Resource& one) { return resource_json(one.name, one.busy, with_timelines); });
}

std::string guesses_json(const Options& options) {
  const std::vector<std::string> none;
  return json_array(options.recorded ? options.recorded->guesses() : none,
                    [](const std::string& text) { return json_string(text); });
}

std::string messages_json(const sim::Network& network) {
  const sim::MessageCounts& counts = network.counts();
  const auto of_ranks = [&](std::int64_t sim::RankTraffic::*figure) {
    return of_ranks_json(network.size(), [&](int rank) { return network.traffic(rank).*figure; });
  };
  return JsonObject()
      .add_number("near", counts.near)
      .add_number("far", counts.far)
      .add_number("far_bytes", counts.far_bytes)
      .add("of_rank", of_ranks(&sim::RankTraffic::messages))
      .add("bytes_of_rank", of_ranks(&sim::RankTraffic::bytes))
      .add("control_bytes_of_rank", of_ranks(&sim::RankTraffic::control_bytes))
      .add("peers_of_rank", of_ranks(&sim::RankTraffic::peers))
      .text();
}

std::string outcome_json(const Options& options, sim::Job& job, const Progress& progress) {
  JsonObject stages;
  SimulatedTime before = 0;
  for (std::size_t i = 0; i < stage_names.size(); ++i) {
    stages.add_number(stage_names[i], progress.ends[i] - before);
    before = progress.ends[i];
  }
  JsonObject json;
  json.add_text("workload", options.recorded ? "recorded" : options.workload->name)
      .add_number("nodes", options.nodes)
      .add_number("ranks", options.ranks())
      .add_number("bytes_written", progress.bytes_written)
      .add_number("bytes_read", progress.bytes_read)
      .add_number("bytes_checked", progress.bytes_checked)
      .add("guesses", guesses_json(options))
      .add("stages_ns", stages.text())
      .add("resources", resources_json(job, options.timelines))
      .add("messages", messages_json(job.network()))
      .add_number("node_shared_bytes", progress.node_shared_bytes)
      .add("traffic", job.files().costs().counters_json())
      .add_number("events", job.scheduler().event_count());
  if (options.memory) json.add_number("process_bytes", field_bytes("/proc/self/status", "VmHWM"));
  return json.text();
}

/// Prints once a second how far the job is: its stage, its virtual time in nanoseconds, the bytes
/// of its requests to OSTs, and the number of events.
void report_progress(sim::Job& job, const Progress& progress) {
  constexpr std::int64_t events_between_looks = 1 << 12;
  using Clock = std::chrono::steady_clock;
  job.scheduler().observe_every(events_between_looks, [&job, &progress,
                                                       last = Clock::now()]() mutable {
    if (Clock::now() - last < std::chrono::seconds(1)) return;
    last = Clock::now();
    std::size_t stage = 0;
    while (stage + 1 < stage_names.size() && progress.ranks_past[stage] == job.network().size()) {
      ++stage;
    }
    std::fprintf(stderr, "progress: %s %lld %lld %lld\n", std::string(stage_names[stage]).c_str(),
                 static_cast<long long>(job.scheduler().now()),
                 static_cast<long long>(job.files().costs().bytes_requested()),
                 static_cast<long long>(job.scheduler().event_count()));
  });
}

}  // namespace

Result<std::string> run(const Options& options) {
  sim::JobSettings settings;
  settings.machine = options.machine;
  settings.nodes = nodes_of(options);
  settings.phantom = !options.checks_bytes;
  settings.address_space_bytes = address_space_bytes;
  settings.stack_bytes = stack_bytes;
  Progress progress;
  settings.refuses_memory = [&progress](int /*rank*/, std::int64_t bytes) {
    progress.node_shared_bytes = std::max(progress.node_shared_bytes, bytes);
    return false;
  };
  const Result<std::unique_ptr<sim::Job>> job = sim::Job::make(std::move(settings));
  if (!job) return job.error();
  Content content;
  if (options.checks_bytes) {
    for (int rank = 0; rank < options.ranks(); ++rank) {
      content.add_writes(options.calls_of(rank).writes);
    }
  }
  Program program(options, progress, options.checks_bytes ? &content : nullptr);
  if (options.reports_progress) report_progress(**job, progress);
  const Status ended = (*job)->run([&](sim::RankOfJob& self) { program.run(self); }, year);
  if (progress.error) return *progress.error;
  if (!ended) return ended.error();
  if (options.checks_bytes) {
    const Result<std::vector<std::byte>> file = (*job)->files().contents("file");
    if (!file) return file.error();
    if (const auto wrong = content.first_wrong(*file)) {
      return Error{ErrorClass::io, 0,
                   "the file has a wrong byte at offset " + std::to_string(*wrong)};
    }
    progress.bytes_checked = content.written_bytes();
  }
  return outcome_json(options, **job, progress);
}

}  // namespace nacre::simulate
