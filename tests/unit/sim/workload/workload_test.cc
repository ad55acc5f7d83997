// The ranks of a workload fill its file without a hole and without a byte of two ranks.
#include "sim/workload/workload.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

/// The runs of all ranks: end by begin. Fails the test if two ranks have the same byte.
std::map<std::int64_t, std::int64_t> runs_of(const Workload& workload, Geometry geometry) {
  std::map<std::int64_t, std::int64_t> runs;
  for (geometry.rank = 0; geometry.rank < geometry.ranks; ++geometry.rank) {
    workload.make(geometry).runs([&](const Run& run) {
      const std::int64_t end = run.file_offset + static_cast<std::int64_t>(run.length);
      if (run.length > 0) CHECK(runs.emplace(run.file_offset, end).second);
    });
  }
  return runs;
}

}  // namespace

TEST_CASE("the ranks of each workload fill the file, each byte once") {
  for (const Workload& workload : all_workloads()) {
    for (const int ranks : {1, 4, 6, 9}) {
      if (!workload.runs_at(ranks)) continue;
      CAPTURE(workload.name);
      CAPTURE(ranks);
      const Geometry geometry{.ranks = ranks, .bytes = 3 << 20, .one_process = true};
      std::int64_t end = 0;
      for (const auto& [begin, run_end] : runs_of(workload, geometry)) {
        REQUIRE(begin == end);
        end = run_end;
      }
      CHECK(end == workload.make(geometry).file_bytes);
      CHECK(end > 0);
    }
  }
}

TEST_CASE(
    "every rank of a workload sets the same number of views and makes as many collective calls") {
  for (const Workload& workload : all_workloads()) {
    CAPTURE(workload.name);
    std::set<std::pair<std::size_t, std::size_t>> counts;
    for (int rank = 0; rank < 4; ++rank) {
      const Access access = workload.make({.rank = rank, .ranks = 4, .bytes = 16 << 20});
      std::size_t calls = 0;
      for (const Step& step : access.steps) calls += step.collective ? step.transfers.size() : 0;
      counts.emplace(access.steps.size(), calls);
    }
    CHECK(counts.size() == 1);
  }
}

TEST_CASE("ranks that are made in one process have the same pieces as in processes of their own") {
  const Workload& climate = *find_workload("climate");
  for (int rank = 0; rank < 3; ++rank) {
    const auto pieces_of = [&](bool one_process) {
      std::map<std::int64_t, std::size_t> pieces;
      const Geometry geometry{
          .rank = rank, .ranks = 3, .bytes = 200'000, .one_process = one_process};
      climate.make(geometry).runs([&](const Run& run) { pieces[run.file_offset] = run.length; });
      return pieces;
    };
    CHECK(pieces_of(true) == pieces_of(false));
  }
}

TEST_CASE("the size of the file is the nearest below the wanted one that the shape allows") {
  const Workload& interleaved = *find_workload("interleaved");
  const Geometry geometry{.ranks = 4, .bytes = 1 << 20, .block_bytes = 1 << 10};
  CHECK(runs_of(interleaved, geometry).rbegin()->second == 1 << 20);
  CHECK(find_workload("nothing") == nullptr);
}

TEST_CASE("factors differ as little as possible, the largest first") {
  CHECK(balanced_factors<2>(12) == std::array{4, 3});
  CHECK(balanced_factors<3>(16) == std::array{4, 2, 2});
  CHECK(balanced_factors<3>(24) == std::array{4, 3, 2});
  CHECK(balanced_factors<4>(16) == std::array{2, 2, 2, 2});
  CHECK(balanced_factors<3>(7) == std::array{7, 1, 1});
  CHECK(balanced_factors<2>(1) == std::array{1, 1});
}

}  // namespace nacre::workload
