// The simulator moves the same bytes of a workload between buffer and file as nacre-bench.
#include "sim/program/workload_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "sim/workload/workload.h"

namespace nacre::sim {
namespace {

/// A part of a file and its place in the buffer.
struct Piece {
  std::int64_t file = 0;
  std::int64_t buffer = 0;
  std::int64_t length = 0;
  friend auto operator<=>(const Piece&, const Piece&) = default;
};

/// In the order of the file; pieces that continue each other are one.
std::vector<Piece> merged(std::vector<Piece> pieces) {
  std::ranges::sort(pieces);
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    if (piece.length == 0) continue;
    const bool continues = !merged.empty() &&
                           merged.back().file + merged.back().length == piece.file &&
                           merged.back().buffer + merged.back().length == piece.buffer;
    if (continues) {
      merged.back().length += piece.length;
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

/// Runs of a cursor, one by one.
std::vector<Extent> runs_of(const plan::TiledMap& map, std::int64_t first, std::int64_t bytes) {
  std::vector<Extent> runs;
  plan::RunCursor cursor(map, first, bytes);
  for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
    for (std::int64_t i = 0; i < series.count; ++i) {
      runs.push_back({series.offset + i * series.stride, series.length});
    }
  }
  return runs;
}

void add_call(const CallSeries& series, const CallSeries::Call& call, std::vector<Piece>& pieces) {
  const std::vector<Extent> file = runs_of(series.view, call.offset_bytes, call.bytes);
  const std::vector<Extent> memory = runs_of({series.memory, call.buffer_offset}, 0, call.bytes);
  std::size_t at = 0;
  std::int64_t done = 0;  // of memory[at]
  for (Extent left : file) {
    while (left.length > 0) {
      const std::int64_t length = std::min(left.length, memory[at].length - done);
      pieces.push_back({left.offset, memory[at].offset + done, length});
      left = {left.offset + length, left.length - length};
      done += length;
      if (done == memory[at].length) {
        ++at;
        done = 0;
      }
    }
  }
}

}  // namespace

TEST_CASE("the calls of each workload move its runs") {
  for (const workload::Workload& one : workload::all_workloads()) {
    for (const int ranks : {1, 4, 9}) {
      if (!one.runs_at(ranks)) continue;
      for (int rank = 0; rank < ranks; ++rank) {
        CAPTURE(one.name);
        CAPTURE(ranks);
        CAPTURE(rank);
        const workload::Access access = one.make({.rank = rank,
                                                  .ranks = ranks,
                                                  .bytes = 2 << 20,
                                                  .block_bytes = 0,
                                                  .one_process = true});
        std::vector<Piece> expected;
        access.runs([&](const workload::Run& run) {
          expected.push_back({run.file_offset, static_cast<std::int64_t>(run.buffer_offset),
                              static_cast<std::int64_t>(run.length)});
        });
        std::vector<Piece> found;
        for (const CallSeries& series : calls_of(access)) {
          CHECK(series.buffer_bytes() <= static_cast<std::int64_t>(access.buffer_bytes));
          for (const CallSeries::Call& call : series.calls) add_call(series, call, found);
        }
        // A workload may write a byte of its header more than once.
        found = merged(std::move(found));
        if (one.name == "header") continue;
        CHECK(found == merged(std::move(expected)));
      }
    }
  }
}

TEST_CASE("the views of the ranks keep their steps, in the units of bytes") {
  const workload::Access access =
      workload::find_workload("header")->make({.rank = 0, .ranks = 2, .bytes = 1 << 20});
  const std::vector<CallSeries> all = calls_of(access);
  REQUIRE(all.size() == access.steps.size());
  CHECK_FALSE(all.front().is_collective);
  CHECK(all[1].is_collective);
  CHECK(all[1].view.origin == access.steps[1].displacement);
}

}  // namespace nacre::sim
