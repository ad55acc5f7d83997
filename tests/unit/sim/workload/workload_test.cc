// The ranks of a workload fill its file without a hole and without a byte of two ranks.
#include "sim/workload/workload.h"

#include <cstdint>
#include <map>
#include <set>

#include <doctest/doctest.h>

namespace nacre::sim {
namespace {

/// The runs of all ranks: end by begin. Fails the test if two ranks have the same byte.
std::map<std::int64_t, std::int64_t> runs_of(const Workload& workload, Geometry geometry) {
  std::map<std::int64_t, std::int64_t> runs;
  for (geometry.rank = 0; geometry.rank < geometry.rank_count; ++geometry.rank) {
    const CallSeries all = workload.make(geometry);
    for (const CallSeries::Call& call : all.calls) {
      plan::RunCursor cursor(all.view, call.offset_bytes, call.bytes);
      for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
        for (std::int64_t i = 0; i < series.count; ++i) {
          const std::int64_t begin = series.offset + i * series.stride;
          CHECK(runs.emplace(begin, begin + series.length).second);
        }
      }
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("the ranks of each workload fill the file, each byte once") {
  for (const Workload& workload : all_workloads()) {
    for (const int ranks : {1, 2, 6, 7, 12}) {
      CAPTURE(workload.name);
      CAPTURE(ranks);
      std::int64_t end = 0;
      for (const auto& [begin, run_end] : runs_of(workload, {0, ranks, 3 << 20, 0})) {
        REQUIRE(begin == end);
        end = run_end;
      }
      CHECK(end > 0);
    }
  }
}

TEST_CASE("every rank of a workload makes the same number of calls") {
  for (const Workload& workload : all_workloads()) {
    CAPTURE(workload.name);
    std::set<std::size_t> counts;
    for (int rank = 0; rank < 6; ++rank) {
      counts.insert(workload.make({rank, 6, 16 << 20, 0}).calls.size());
    }
    CHECK(counts.size() == 1);
  }
}

TEST_CASE("the size of the file is the nearest below the wanted one that the shape allows") {
  const Workload& interleaved = *find_workload("interleaved");
  const auto runs = runs_of(interleaved, {0, 4, 1 << 20, 1 << 10});
  CHECK(runs.rbegin()->second == 1 << 20);
  CHECK(find_workload("nothing") == nullptr);
}

}  // namespace nacre::sim
