#include "run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sim/job/job.h"

namespace nacre::simulate {
namespace {

using plan::Direction;
using sim::SimulatedTime;

constexpr SimulatedTime year = SimulatedTime{365} * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t address_space_bytes = std::int64_t{32} << 40U;
constexpr std::size_t stack_bytes = 128 << 10;

/// What the program does, one after the other. All ranks agree at the end of each stage.
constexpr std::array<std::string_view, 6> stage_names{"open", "view", "write",
                                                      "sync", "read", "close"};
enum Stage : std::size_t {
  open_stage,
  view_stage,
  write_stage,
  sync_stage,
  read_stage,
  close_stage
};

/// Ends of the stages, over all ranks, and the first error.
struct Progress {
  std::array<SimulatedTime, stage_names.size()> ends{};
  std::optional<Error> error;
  std::int64_t bytes = 0;  // of one direction, over all ranks

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
    runs.push_back({static_cast<std::uint64_t>(node + 1), options.ranks_per_node});
  }
  return plan::NodeMap::from_runs(runs);
}

/// The program of one rank.
class Program {
 public:
  Program(const Options& options, Progress& progress, std::span<std::byte> buffer)
      : options_(options), progress_(progress), buffer_(buffer) {}

  void run(sim::RankOfJob& self) const {
    const sim::RankCalls calls = options_.workload->make(
        {self.rank(), options_.ranks(), options_.bytes, options_.block_bytes});
    const auto opened =
        self.open("file", {.read = true, .write = true, .create = true}, options_.hints);
    progress_.note(open_stage, self.now(), opened ? Status() : Status(opened.error()));
    if (!opened) return;
    file::OpenFile& file = **opened;
    progress_.note(view_stage, self.now(),
                   self.run(file.set_view({.map = calls.view}, {}, std::nullopt)));
    access_all(self, file, calls, Direction::write);
    progress_.note(write_stage, self.now(), std::nullopt);
    progress_.note(sync_stage, self.now(), self.run(file.sync()));
    if (options_.reads) access_all(self, file, calls, Direction::read);
    progress_.note(read_stage, self.now(), std::nullopt);
    progress_.note(close_stage, self.now(), self.run(file.close()));
  }

 private:
  void access_all(sim::RankOfJob& self, file::OpenFile& file, const sim::RankCalls& calls,
                  Direction direction) const {
    const std::size_t stage = direction == Direction::write ? write_stage : read_stage;
    for (const sim::RankCalls::Call& call : calls.calls) {
      const plan::MemoryAccess memory{buffer_.data(), plan::TypeMap::bytes(1), call.bytes};
      const file::Access access{direction, file::Position::explicit_offset, call.offset_bytes,
                                memory, nullptr};
      const file::Outcome outcome = self.run(file.transfer_all(access, std::nullopt));
      progress_.note(stage, self.now(), outcome.error);
      if (direction == Direction::write) progress_.bytes += outcome.bytes;
    }
  }

  const Options& options_;
  Progress& progress_;
  std::span<std::byte> buffer_;
};

std::int64_t most_bytes_of_a_call(const Options& options) {
  std::int64_t most = 1;
  for (int rank = 0; rank < options.ranks(); ++rank) {
    const sim::RankCalls calls =
        options.workload->make({rank, options.ranks(), options.bytes, options.block_bytes});
    for (const sim::RankCalls::Call& call : calls.calls) most = std::max(most, call.bytes);
  }
  return most;
}

/// The busy times of one kind of resource.
std::string resource_json(std::string_view name, const std::vector<SimulatedTime>& busy) {
  const SimulatedTime sum = std::accumulate(busy.begin(), busy.end(), SimulatedTime{0});
  JsonObject json;
  json.add_text("name", name)
      .add_number("count", std::ssize(busy))
      .add_number("busy_ns_sum", sum)
      .add_number("busy_ns_max", busy.empty() ? 0 : *std::ranges::max_element(busy));
  return json.text();
}

std::string resources_json(sim::Job& job) {
  sim::CostModel& costs = job.files().costs();
  std::vector<SimulatedTime> copies;
  std::vector<SimulatedTime> links;
  for (int node = 0; node < job.network().nodes().node_count(); ++node) {
    copies.push_back(job.network().copy_time(node));
    links.push_back(job.network().link_time(node));
  }
  const std::array parts{resource_json("copies", copies),
                         resource_json("messages", links),
                         resource_json("node links", costs.busy_times(sim::StationKind::node_link)),
                         resource_json("uplinks", costs.busy_times(sim::StationKind::uplink)),
                         resource_json("servers", costs.busy_times(sim::StationKind::server_link)),
                         resource_json("OSTs", costs.busy_times(sim::StationKind::ost))};
  return json_array(parts, [](const std::string& part) { return part; });
}

std::string outcome_json(const Options& options, sim::Job& job, const Progress& progress) {
  JsonObject stages;
  SimulatedTime before = 0;
  for (std::size_t i = 0; i < stage_names.size(); ++i) {
    stages.add_number(stage_names[i], progress.ends[i] - before);
    before = progress.ends[i];
  }
  const sim::MessageCounts& counts = job.network().counts();
  JsonObject messages;
  messages.add_number("near", counts.near)
      .add_number("far", counts.far)
      .add_number("far_bytes", counts.far_bytes);
  JsonObject json;
  json.add_text("workload", options.workload->name)
      .add_number("nodes", options.nodes)
      .add_number("ranks", options.ranks())
      .add_number("bytes", progress.bytes)
      .add("stages_ns", stages.text())
      .add("resources", resources_json(job))
      .add("messages", messages.text())
      .add("traffic", job.files().costs().counters_json())
      .add_number("events", job.scheduler().event_count());
  return json.text();
}

}  // namespace

Result<std::string> run(const Options& options) {
  sim::JobSettings settings;
  settings.machine = options.machine;
  settings.nodes = nodes_of(options);
  settings.phantom = true;
  settings.address_space_bytes = address_space_bytes;
  settings.stack_bytes = stack_bytes;
  const Result<std::unique_ptr<sim::Job>> job = sim::Job::make(std::move(settings));
  if (!job) return job.error();
  const Result<std::span<std::byte>> buffer =
      (*job)->network().phantom_buffer(most_bytes_of_a_call(options));
  if (!buffer) return buffer.error();
  Progress progress;
  const Program program(options, progress, *buffer);
  const Status ended = (*job)->run([&](sim::RankOfJob& self) { program.run(self); }, year);
  if (!ended) return ended.error();
  if (progress.error) return *progress.error;
  return outcome_json(options, **job, progress);
}

}  // namespace nacre::simulate
