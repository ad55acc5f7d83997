// A job is made again from what a report keeps of its calls.
#include "sim/program/recorded_job.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "collective/profile/access_shape.h"
#include "sim/program/workload_calls.h"
#include "sim/workload/workload.h"

namespace nacre::sim {
namespace {

/// Bytes of a call: begin and length of its runs.
using Runs = std::set<std::pair<std::int64_t, std::int64_t>>;

Runs runs_of(const plan::FileAccess& access) {
  Runs runs;
  plan::RunCursor cursor(access.view, access.first_byte, access.byte_count);
  for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
    for (std::int64_t i = 0; i < series.count; ++i) {
      runs.emplace(series.offset + i * series.stride, series.length);
    }
  }
  return runs;
}

std::vector<Runs> runs_of(const CallSeries& series) {
  std::vector<Runs> calls;
  for (const CallSeries::Call& call : series.calls) {
    calls.push_back(runs_of({series.view, call.offset_bytes, call.bytes}));
  }
  return calls;
}

std::string digits_of(const plan::TypeMap& type) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::vector<std::byte> bytes;
  type.encode(bytes);
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

/// What a report keeps of the calls of a rank.
std::string shape_line(int rank, const CallSeries& series) {
  collective::AccessShape shape;
  for (const CallSeries::Call& call : series.calls) {
    shape.note({series.view, call.offset_bytes, call.bytes});
  }
  const collective::CallShape first = *shape.first();
  return "shape " + std::to_string(rank) + " " + std::to_string(first.origin) + " " +
         std::to_string(first.first_byte) + " " + std::to_string(first.bytes) + " " +
         (first.step_bytes ? std::to_string(*first.step_bytes) : "-") + " " +
         digits_of(series.view.type) + "\n";
}

std::string recorded(const std::vector<CallSeries>& ranks) {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::string shapes;
  for (int rank = 0; rank < std::ssize(ranks); ++rank) {
    const CallSeries& series = ranks[static_cast<std::size_t>(rank)];
    calls += std::ssize(series.calls);
    for (const CallSeries::Call& call : series.calls) bytes += call.bytes;
    if (collective::is_sampled(rank, static_cast<int>(ranks.size()))) {
      shapes += shape_line(rank, series);
    }
  }
  return "ranks " + std::to_string(ranks.size()) + "\nkind write collective " +
         std::to_string(ranks.size()) + " " + std::to_string(calls) + " " + std::to_string(bytes) +
         "\n" + shapes;
}

std::vector<CallSeries> ranks_of(std::string_view name, int count, std::int64_t bytes) {
  std::vector<CallSeries> ranks;
  for (int rank = 0; rank < count; ++rank) {
    const workload::Geometry geometry{.rank = rank, .ranks = count, .bytes = bytes};
    ranks.push_back(calls_of(workload::find_workload(name)->make(geometry)).front());
  }
  return ranks;
}

/// The ranks with data in the first call, and where each begins.
std::map<int, std::int64_t> begins_of(const RecordedJob& job) {
  std::map<int, std::int64_t> begins;
  for (int rank = 0; rank < job.rank_count(); ++rank) {
    const CallSeries series = job.calls_of(rank).writes.front();
    if (series.calls.empty() || series.calls.front().bytes == 0) continue;
    begins[rank] = runs_of(series).front().begin()->first;
  }
  return begins;
}

constexpr const char* one_rank = "ranks 4\nkind write independent 1 3 30\nshape 0 0 0 10 20 ";

}  // namespace

TEST_CASE("regular programs are made again byte by byte") {
  for (const auto* const name : {"interleaved", "pieces", "seg", "strided", "hard", "tile64"}) {
    for (const int count : {1, 2, 5, 12, 32}) {
      CAPTURE(name);
      CAPTURE(count);
      const std::vector<CallSeries> ranks = ranks_of(name, count, 8 << 20);
      const Result<RecordedJob> job = RecordedJob::parse(recorded(ranks));
      REQUIRE(job);
      const bool is_seen = std::ssize(ranks.front().calls) <= collective::AccessShape::calls_max;
      CHECK(job->guesses().empty() == is_seen);
      for (int rank = 0; rank < count; ++rank) {
        CAPTURE(rank);
        const RankCalls calls = job->calls_of(rank);
        REQUIRE(calls.writes.size() == 1);
        CHECK(calls.reads.empty());
        const auto& expected = ranks[static_cast<std::size_t>(rank)];
        CHECK(runs_of(calls.writes.front()) == runs_of(expected));
      }
    }
  }
}

TEST_CASE("irregular programs keep their bytes, and the guesses are named") {
  const std::vector<CallSeries> ranks = ranks_of("uneven", 24, 8 << 20);
  const Result<RecordedJob> job = RecordedJob::parse(recorded(ranks));
  REQUIRE(job);
  CHECK(job->guesses().size() == 2);
  std::int64_t expected = 0;
  std::int64_t found = 0;
  for (int rank = 0; rank < 24; ++rank) {
    expected += ranks[static_cast<std::size_t>(rank)].calls.front().bytes;
    found += job->calls_of(rank).writes.front().calls.front().bytes;
  }
  CHECK(found == doctest::Approx(static_cast<double>(expected)).epsilon(0.01));
}

TEST_CASE("more ranks than the job had write further copies of its bytes behind it") {
  const std::vector<CallSeries> ranks = ranks_of("interleaved", 4, 4 << 20);
  const RecordedJob job = RecordedJob::parse(recorded(ranks)).value();
  CHECK(job.end(4) == 4 << 20);
  CHECK(job.end(12) == 12 << 20);
  const Runs first = runs_of(job.calls_of(1).writes.front()).front();
  const Runs third = runs_of(job.calls_of(9).writes.front()).front();
  CHECK(third.begin()->first == first.begin()->first + (8 << 20));
  CHECK(third.size() == first.size());
}

TEST_CASE("ranks without data make collective calls of no bytes, and no independent calls") {
  const std::string bytes = digits_of(plan::TypeMap::bytes(1));
  const RecordedJob job = RecordedJob::parse(one_rank + bytes + "\n").value();
  CHECK(job.calls_of(0).writes.front().calls.size() == 3);
  CHECK_FALSE(job.calls_of(0).writes.front().is_collective);
  CHECK(job.calls_of(0).writes.front().calls[2].offset_bytes == 40);
  CHECK(job.calls_of(3).writes.front().calls.empty());
  const RecordedJob half = RecordedJob::parse(
                               "ranks 4\nkind read collective 4 4 20\n"
                               "shape 0 0 0 10 - " +
                               bytes + "\nshape 2 100 0 10 - " + bytes + "\n")
                               .value();
  REQUIRE(half.calls_of(1).reads.size() == 1);
  CHECK(half.calls_of(1).reads.front().calls.size() == 1);
  CHECK(half.calls_of(1).reads.front().calls.front().bytes == 0);
  CHECK(half.calls_of(2).reads.front().calls.front().bytes == 10);
}

TEST_CASE("if the report has one rank, as many ranks as have data lie behind each other") {
  const std::string first = "shape 0 100 0 10 - =10\n";
  const auto independent = RecordedJob::parse("ranks 12\nkind write independent 4 4 40\n" + first);
  CHECK(begins_of(*independent) ==
        std::map<int, std::int64_t>{{0, 100}, {3, 110}, {6, 120}, {9, 130}});
  CHECK(independent->guesses().size() == 1);
  const auto collective = RecordedJob::parse("ranks 12\nkind write collective 12 12 30\n" + first);
  CHECK(begins_of(*collective) == std::map<int, std::int64_t>{{0, 100}, {4, 110}, {8, 120}});
  const auto one = RecordedJob::parse("ranks 12\nkind write collective 12 12 10\n" + first);
  CHECK(begins_of(*one) == std::map<int, std::int64_t>{{0, 100}});
  CHECK(one->guesses().empty());
  const auto last =
      RecordedJob::parse("ranks 12\nkind write independent 3 3 30\nshape 11 100 0 10 - =10\n");
  CHECK(begins_of(*last) == std::map<int, std::int64_t>{{3, 80}, {7, 90}, {11, 100}});
}

TEST_CASE("if rank 0 has no data, the ranks with data begin behind it") {
  const auto job = RecordedJob::parse(
      "ranks 8\nkind write independent 3 3 30\nshape 2 0 0 10 - =10\nshape 4 10 0 10 - =10\n");
  CHECK(begins_of(*job) == std::map<int, std::int64_t>{{2, 0}, {4, 10}, {6, 20}});
}

TEST_CASE("distances of calls that the report did not see are a guess") {
  const std::string shape = "shape 0 0 0 10 20 =10\n";
  CHECK(RecordedJob::parse("ranks 1\nkind write collective 1 16 160\n" + shape)->guesses().empty());
  CHECK(RecordedJob::parse("ranks 1\nkind write collective 1 17 170\n" + shape)->guesses().size() ==
        1);
}

TEST_CASE("calls that go back end at the begin of the file") {
  const plan::TypeMap type = plan::TypeMap::bytes(4).resized(0, 12).value();
  const auto job = RecordedJob::parse(
      "ranks 1\nkind write collective 1 5 20\nshape 0 250 0 4 -100 " + digits_of(type) + "\n");
  const std::vector<Runs> calls = runs_of(job->calls_of(0).writes.front());
  CHECK(calls[0] == Runs{{250, 4}});
  CHECK(calls[2] == Runs{{50, 4}});
  CHECK(calls[4] == Runs{{50, 4}});
}

TEST_CASE("calls at distances that are no multiple of the type are made at these distances") {
  const plan::TypeMap type = plan::TypeMap::bytes(4).resized(0, 12).value();
  for (const std::int64_t step : {100, 24, 0, -100}) {
    CAPTURE(step);
    const std::string text = "ranks 1\nkind write collective 1 3 36\nshape 0 1000 0 12 " +
                             std::to_string(step) + " " + digits_of(type) + "\n";
    const RecordedJob job = RecordedJob::parse(text).value();
    const std::vector<Runs> calls = runs_of(job.calls_of(0).writes.front());
    REQUIRE(calls.size() == 3);
    for (int call = 0; call < 3; ++call) {
      const std::int64_t begin = 1000 + call * step;
      CHECK(calls[static_cast<std::size_t>(call)] ==
            Runs{{begin, 4}, {begin + 12, 4}, {begin + 24, 4}});
    }
  }
}

TEST_CASE("types are written as pieces too") {
  const RecordedJob job = RecordedJob::parse(
                              "ranks 2\nkind write collective 2 2 48\n"
                              "shape 0 0 0 24 - =4*2/10*3/100\nshape 1 5 0 24 - =4*2/10*3/100\n")
                              .value();
  const Runs expected{{5, 4}, {15, 4}, {105, 4}, {115, 4}, {205, 4}, {215, 4}};
  CHECK(runs_of(job.calls_of(1).writes.front()).front() == expected);
  for (const char* const type : {"=", "=0", "=4*2", "=4*0/8", "=4*2/-8", "=x"}) {
    CAPTURE(type);
    CHECK_FALSE(RecordedJob::parse(
        std::string("ranks 1\nkind write collective 1 1 4\nshape 0 0 0 4 - ") + type + "\n"));
  }
}

TEST_CASE("wrong lines are named") {
  constexpr std::array<std::pair<const char*, const char*>, 6> cases{{
      {"", "the number of ranks is missing"},
      {"ranks 0\n", "line 1: expected"},
      {"ranks 2\nkind write all 1 1 1\n", "line 2: expected"},
      {"ranks 2\nkind write collective 2 2 8\nshape 2 0 0 4 - 00\n", "line 3: rank 2"},
      {"ranks 2\nkind write collective 2 2 8\nshape 0 0 0 4 - zz\n", "line 3: the type of rank 0"},
      {"ranks 2\nkind write collective 2 2 8\n", "a kind of calls has no shape"},
  }};
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    const Result<RecordedJob> job = RecordedJob::parse(text);
    REQUIRE_FALSE(job);
    CHECK(job.error().message.find(message) == 0);
  }
}

}  // namespace nacre::sim
