// The line of a report: the reduction over the ranks, and its format.
#include "file/report/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "testing/in_process.h"

namespace nacre::file {
namespace {

constexpr plan::CollectivePlan two_domains{.algorithm = plan::Algorithm::two_phase,
                                           .reason = plan::PlanReason::interleaved,
                                           .aggregator_count = 2,
                                           .cycle_bytes = 4096,
                                           .round_count = 3,
                                           .origin = 0,
                                           .end = 20'000,
                                           .block_bytes = 12'288};

/// The profile of rank r: r bytes moved by two_domains, which reach the file from even ranks, an
/// independent read on rank 1 only, and r + 1 seconds for the open.
void fill(FileProfile& profile, int rank) {
  profile.open_nanoseconds = 1'000'000'000LL * (rank + 1);
  collective::Profile& writes = profile.of(plan::Direction::write, true);
  writes.calls.add(1);
  writes.bytes.add(rank);
  if (rank % 2 == 0) writes.count_file_call({0, 100 + rank}, 4096);
  plan::AccessSummary summary;
  summary.bytes = 3;
  summary.run_count = 7;
  profile.note_plan({.direction = plan::Direction::write,
                     .plan = two_domains,
                     .in_steps = false,
                     .groups = nullptr,
                     .summary = summary,
                     .saturation_bytes = 4 << 20,
                     .bytes = rank,
                     .ticks = 50});
  if (rank == 1) profile.of(plan::Direction::read, false).calls.add(4);
  if (rank == 1) profile.timeline.add(collective::Activity::file, 0, 1 << 19);
}

collective::Task<ReducedProfile> reduce_filled(collective::Transport& transport) {
  FileProfile profile;
  fill(profile, transport.rank());
  auto reducing = reduce_profile(transport, profile, monotonic_nanoseconds());
  ReducedProfile reduced = co_await reducing;
  co_return reduced;
}

ReducedProfile reduced_over(testing::InProcessNetwork& network) {
  auto results = testing::run_polled<ReducedProfile>(
      network, [&](int rank) { return reduce_filled(network.transport(rank)); }, 3);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  CHECK(network.unmatched_count() == 0);
  return results->front();
}

ReducedProfile reduced_over(int rank_count) {
  testing::InProcessNetwork network({.rank_count = rank_count});
  return reduced_over(network);
}

void check_has(const std::string& line, const std::string& part) {
  CAPTURE(line);
  CAPTURE(part);
  CHECK(line.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("kinds of calls are in the report if any rank made one, from 1 to 9 ranks") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    const ReducedProfile reduced = reduced_over(ranks);
    REQUIRE(reduced.kinds.size() == (ranks > 1 ? 2 : 1));
    CHECK(reduced.kinds[0].kind == CallKind::collective_write);
    if (ranks > 1) CHECK(reduced.kinds[1].kind == CallKind::independent_read);
    REQUIRE(reduced.plans.size() == 1);
    CHECK(reduced.plans[0].bytes.sum() == ranks * (ranks - 1) / 2);
    CHECK(reduced.plans[0].use.plan == two_domains);
    CHECK(reduced.open_nanoseconds.min() == 1'000'000'000);
    CHECK(reduced.open_nanoseconds.max() == 1'000'000'000LL * ranks);
  }
}

TEST_CASE("figures of nodes are sums over their ranks, in blocks or dealt in turn") {
  for (const bool deals_ranks : {false, true}) {
    CAPTURE(deals_ranks);
    testing::InProcessNetwork network(
        {.rank_count = 133, .ranks_per_node = 12, .deals_ranks = deals_ranks});
    const plan::NodeMap& nodes = network.nodes();
    REQUIRE(nodes.node_count() == 12);
    std::vector<NodeShare> expected(12);
    std::vector<std::int64_t> moved(12);
    for (int rank = 0; rank < nodes.rank_count(); ++rank) {
      const auto node = static_cast<std::size_t>(nodes.node_of(rank));
      moved[node] += rank;
      if (rank % 2 == 0) expected[node].bytes += 100 + rank;
      if (rank % 2 == 0) ++expected[node].calls;
      expected[node].rank = nodes.lowest_rank_on(nodes.node_of(rank));
    }
    std::ranges::sort(expected, collective::is_busier);
    const ReducedProfile reduced = reduced_over(network);
    REQUIRE(reduced.kinds[0].nodes.has_value());
    const NodeShares& found = *reduced.kinds[0].nodes;
    CHECK(found.bytes.count() == 12);
    CHECK(found.bytes.max() == std::ranges::max(moved));
    CHECK(found.bytes.min() == std::ranges::min(moved));
    CHECK(found.file_bytes.max() == expected.front().bytes);
    for (std::size_t i = 0; i < found.busiest.size() && expected[i].calls > 0; ++i) {
      CAPTURE(i);
      CHECK(found.busiest[i].rank == expected[i].rank);
      CHECK(found.busiest[i].bytes == expected[i].bytes);
      CHECK(found.busiest[i].calls == expected[i].calls);
      CHECK(found.busiest[i].host == own_host());
    }
  }
  testing::InProcessNetwork one_node({.rank_count = 3, .ranks_per_node = 3});
  CHECK_FALSE(reduced_over(one_node).kinds[0].nodes.has_value());
}

TEST_CASE("the line contains the calls, their plans, and the sources of the hints") {
  ReportedFile file;
  file.path = "/data/\"x\".nc";
  file.nodes = plan::NodeMap::from_runs(std::vector<plan::NodeMap::Run>{{1, 2}, {2, 2}});
  file.job = "17";
  file.layout_origin = "nacre";
  file.signature = "894844460d0a1a0a";
  file.hints.set("cb_nodes", "2", HintSource::environment);
  file.hints.apply({{"cb_buffer_size", "none"}}, HintTime::open);
  const std::string line = report_line(file, reduced_over(4));
  CHECK(line.find('\n') == line.size() - 1);
  check_has(line, R"({"schema":2,"file":"/data/\"x\".nc","version":"","mpi":"","job":"17")");
  check_has(line, R"("ranks":4,"nodes":2,)");
  check_has(line, R"("calls":8,"bytes_read":0,"bytes_written":6)");
  check_has(line, R"("layout":[],"layout_origin":"nacre",)");
  check_has(line, R"("signature":"894844460d0a1a0a")");
  check_has(line, R"("hints":{"cb_nodes":{"value":"2","from":"environment"}})");
  check_has(line, R"("notes":["hint cb_buffer_size has the value \"none\")");
  check_has(line, R"("file_thread_seconds":{"min":0,"median":)");
  check_has(line, R"("open_seconds":{"min":1.000000000,"median":1.9)");
  check_has(line,
            R"("timeline":{"interval_seconds":0.001048576,"first_ranks":[0,1,2,3],"percent":{)"
            R"("file":[[],[50],[],[]]}},)");
  check_has(line, R"("independent_read":{"ranks":1,)");
  check_has(line, R"("algorithm":"two_phase","reason":"interleaved","because":"The pieces)");
  check_has(line, R"("calls":1,"bytes":{"min":0,"median":1,"max":3,"sum":6})");
  check_has(line, R"("pieces":7)");
  check_has(
      line,
      R"("aggregator_ranks":[0,3],"pattern":"even","write_locks":"usual","domain_bytes":12288,)"
      R"("cycle_bytes":4096,"cycle_buffers":2,)");
  check_has(line, R"("aggregators":2,"aggregators_reason":"saturation","aggregators_because":"as)");
  check_has(line, R"("saturation_bytes":4194304,)");
}

TEST_CASE("the length of a line is bounded for any number of calls, plans and ranks") {
  FileProfile profile;
  collective::Profile& writes = profile.of(plan::Direction::write, true);
  for (int i = 0; i < 64; ++i) writes.count_file_call({0, std::int64_t{1} << (i % 62)}, 4096);
  for (int i = 0; i < 1'000; ++i) {
    plan::CollectivePlan plan = two_domains;
    plan.block_bytes += i;
    plan.aggregator_count = 100'000;
    profile.note_plan({.direction = plan::Direction::read,
                       .plan = plan,
                       .in_steps = false,
                       .groups = nullptr,
                       .summary = {},
                       .saturation_bytes = 0,
                       .bytes = 0,
                       .ticks = 0});
    writes.calls.add(1);
  }
  constexpr std::int64_t second = 1'000'000'000;
  for (int activity = 0; activity < 7; ++activity) {
    profile.timeline.add(static_cast<collective::Activity>(activity), 0, 3'600 * second);
  }
  testing::InProcessNetwork network({.rank_count = 16});
  auto reducing = [&](int rank) {
    return reduce_profile(network.transport(rank), profile, monotonic_nanoseconds());
  };
  const auto results = testing::run_polled<ReducedProfile>(network, reducing, 1);
  REQUIRE(results.has_value());
  CHECK(results->front().other_plan_calls == 1'000 - std::int64_t{FileProfile::plans_max});
  ReportedFile file;
  file.nodes = plan::NodeMap::singles(100'000);
  CHECK(report_line(file, results->front()).size() < 64'000);
}

TEST_CASE("of more than 512 OSTs the slowest are listed, and the others counted") {
  constexpr std::int64_t ost_count = 515;
  ReducedProfile reduced;
  ReducedProfile::OfKind& writes = reduced.kinds.emplace_back();
  for (std::int64_t ost = 0; ost < ost_count; ++ost) {
    const std::int64_t nanoseconds = ost < 3 ? 1 : 1'000'000'000;
    writes.osts.by_ost.push_back({100, 1, 100, nanoseconds});
  }
  const std::string line = report_line(ReportedFile(), reduced);
  check_has(line, R"("other_osts":3,"osts":[{"ost":3,)");
  check_has(line, R"({"ost":514,"bytes":100,"calls":1,"alone_bytes":100,"alone_seconds":1.)");
  writes.osts.by_ost.resize(512);
  CHECK(report_line(ReportedFile(), reduced).find("other_osts") == std::string::npos);
}

TEST_CASE("the variables of the batch system give the job id") {
  std::map<std::string, std::string> variables;
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  CHECK(job_name(environment).empty());
  variables["PBS_JOBID"] = "5.server";
  CHECK(job_name(environment) == "5.server");
  variables["SLURM_JOB_ID"] = "7";
  CHECK(job_name(environment) == "7");
}

}  // namespace nacre::file
