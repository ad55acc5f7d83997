// The phases of calls, held against a machine on which only calls of the store take time, all of
// them equally long. tests/unit/file/report/phases_test.cc does the same with real clocks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collective/profile/profile.h"
#include "file/open_file.h"
#include "plan/types/type_map.h"
#include "sim/job/job.h"

namespace nacre::sim {
namespace {

using collective::Phase;
using plan::Direction;

constexpr SimulatedTime hour = SimulatedTime{3600} * 1'000'000'000;
constexpr std::int64_t call_nanoseconds = 3'000'000;
constexpr int rank_count = 4;
constexpr std::int64_t piece_bytes = 4096;
constexpr std::int64_t bytes_per_rank = 16 * piece_bytes;
constexpr file::AccessMode read_write{.read = true, .write = true, .create = true};

struct Setting {
  std::string algorithm;
  int threads;  // of an aggregator
  Direction direction;
};

/// Checks the profile of one rank, which was `wall` in the call. Returns its calls of the store.
std::int64_t check_rank(const collective::Profile& profile, const Setting& setting,
                        SimulatedTime wall) {
  const std::array<std::int64_t, collective::phase_count> phases = profile.nanoseconds_by_phase();
  const auto in = [&](Phase phase) { return phases[static_cast<std::size_t>(phase)]; };
  const std::int64_t known = profile.file_call_count() * call_nanoseconds;
  const bool in_threads = setting.threads > 0 && setting.algorithm != "direct";
  CHECK(profile.total_nanoseconds() == wall);
  CHECK(std::accumulate(phases.begin(), phases.end(), std::int64_t{0}) == wall);
  CHECK(in(Phase::file) == (in_threads ? 0 : known));
  CHECK(profile.file_thread_nanoseconds.get() == (in_threads ? known : 0));
  const std::int64_t busy = profile.file_busy_nanoseconds.get();
  CHECK(busy <= std::min(wall, in_threads ? known : 0));
  CHECK(busy * std::max(1, setting.threads) >= (in_threads ? known : 0));
  CHECK(in(Phase::file_wait) <= busy);
  return profile.file_call_count();
}

/// A collective call of all ranks, each in its own part of pieces that take turns.
SimulatedTime call(RankOfJob& self, file::OpenFile& file, Direction direction) {
  const plan::TypeMap pieces =
      plan::TypeMap::bytes(piece_bytes).resized(0, rank_count * piece_bytes).value();
  const file::View view{.map = {pieces, self.rank() * piece_bytes}};
  REQUIRE(self.run(file.set_view(view, {}, std::nullopt)).ok());
  std::vector<std::byte> bytes(bytes_per_rank);
  const plan::MemoryAccess memory{bytes.data(), plan::TypeMap::bytes(1), bytes_per_rank};
  const SimulatedTime begin = self.now();
  const file::Outcome moved = self.run(file.transfer_all(
      {direction, file::Position::explicit_offset, 0, memory, nullptr}, std::nullopt));
  CHECK_FALSE(moved.error.has_value());
  CHECK(moved.bytes == bytes_per_rank);
  return self.now() - begin;
}

std::int64_t calls_of_job(const Setting& setting) {
  JobSettings settings;
  settings.nodes = plan::NodeMap::singles(rank_count);
  settings.machine.write_call_ns = settings.machine.read_call_ns = call_nanoseconds;
  const file::InfoPairs hints{{"nacre_algorithm", setting.algorithm},
                              {"nacre_io_threads", std::to_string(setting.threads)},
                              {"cb_nodes", "2"},
                              {"cb_buffer_size", "16384"}};
  std::int64_t calls = 0;
  const std::unique_ptr<Job> job = Job::make(settings).value();
  const Status ended = job->run(
      [&](RankOfJob& self) {
        const std::shared_ptr<file::OpenFile> file = self.open("f", read_write, hints).value();
        if (setting.direction == Direction::read) {
          static_cast<void>(call(self, *file, Direction::write));
        }
        const SimulatedTime wall = call(self, *file, setting.direction);
        CAPTURE(self.rank());
        calls += check_rank(file->profile().of(setting.direction, true), setting, wall);
        CHECK(self.run(file->close()).ok());
      },
      hour);
  REQUIRE_MESSAGE(ended.ok(), ended.error().message);
  return calls;
}

}  // namespace

TEST_CASE("phases of all algorithms are exact, with and without helper threads") {
  for (const char* algorithm :
       {"direct", "two_phase", "dynamic_segmentation", "static_segmentation"}) {
    for (const int threads : {0, 1, 2}) {
      for (const Direction direction : {Direction::write, Direction::read}) {
        CAPTURE(algorithm);
        CAPTURE(threads);
        CAPTURE(direction == Direction::read);
        CHECK(calls_of_job({algorithm, threads, direction}) >= 4);
      }
    }
  }
}

}  // namespace nacre::sim
