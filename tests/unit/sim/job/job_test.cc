// The real engine in virtual time: random views, memory, ranks, nodes, machines and hints against a
// serial oracle, byte for byte; and equal jobs run equally, to the nanosecond.
#include "sim/job/job.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "random_access.h"
#include "random_job.h"

namespace nacre::sim {
namespace {

using namespace collective::fixtures;
using namespace fixtures;
using plan::Direction;

constexpr SimulatedTime hour = SimulatedTime{3600} * 1'000'000'000;
constexpr file::AccessMode read_write{.read = true, .write = true, .create = true};

/// A job in which all ranks write, and then read the same bytes.
struct Trial {
  JobSettings settings;
  file::InfoPairs hints;
  std::vector<RankAccess> ranks;
};

struct Observed {
  Bytes file;
  std::vector<Bytes> buffers;  // by rank, after the read
  SimulatedTime end = 0;
  std::int64_t events = 0;
  std::string traffic;

  friend bool operator==(const Observed&, const Observed&) = default;
};

machine::Machine random_machine(Random& random) {
  constexpr std::array<std::int64_t, 4> bandwidths{0, 1 << 16, 1 << 20, 1 << 30};
  constexpr std::array<std::int64_t, 3> times{0, 70, 9'000};
  machine::Machine machine;
  machine.node_link.bandwidth = one_of(random, bandwidths);
  machine.rpc_bytes = one_of(random, std::array<std::int64_t, 3>{4096, 65'536, 1 << 20});
  machine.rpcs_in_flight = pick(random, 1, 8);
  machine.dirty_bytes = one_of(random, std::array<std::int64_t, 2>{8192, 1 << 20});
  machine.cores = pick(random, 0, 2);
  machine.memory_bandwidth = one_of(random, bandwidths);
  machine.copy_bandwidth = one_of(random, bandwidths);
  machine.piece_ns = one_of(random, times);
  machine.near_message_ns = one_of(random, times);
  machine.far_message_ns = one_of(random, times);
  machine.message_bandwidth = one_of(random, bandwidths);
  machine.write_call_ns = one_of(random, times);
  machine.write_bandwidth = one_of(random, bandwidths);
  machine.one_writer = pick(random, 0, 1);
  machine.uplinks = pick(random, 0, 2);
  machine.uplink = {one_of(random, bandwidths), 0.1};
  machine.osts_per_server = pick(random, 0, 2);
  machine.server_link.bandwidth = one_of(random, bandwidths);
  machine.osts = pick(random, 1, 5);
  machine.ost = {one_of(random, bandwidths), 0.2};
  machine.ost_latency_us = one_of(random, times);
  machine.lock_latency_us = pick(random, 0, 1) * 30;
  machine.wide_locks = pick(random, 0, 1);
  machine.stripe_count = pick(random, 1, 3);
  machine.stripe_size = 1 << 16;
  machine.messages_share_link = pick(random, 0, 1);
  return machine;
}

Trial random_trial(std::uint64_t seed) {
  Random random(seed);
  const int rank_count = static_cast<int>(pick(random, 1, 12));
  Trial trial;
  trial.settings.machine = random_machine(random);
  trial.settings.nodes = random_nodes(random, rank_count, rank_count);
  trial.settings.buffered_bytes_max = one_of(random, std::array<std::int64_t, 3>{0, 100, 16'384});
  trial.hints = random_hints(random, rank_count, 9'000);
  const std::int64_t span = pick(random, 0, 1) == 0 ? 200 : 200'000;
  for (int rank = 0; rank < rank_count; ++rank) {
    trial.ranks.push_back(random_access(random, 20'000, span));
  }
  return trial;
}

file::Access access_of(RankAccess& access, Direction direction) {
  return {direction, file::Position::explicit_offset, access.file.first_byte, access.memory(),
          nullptr};
}

void write_and_read(RankOfJob& self, RankAccess& written, RankAccess& read,
                    const file::InfoPairs& hints) {
  const auto opened = self.open("f", read_write, hints);
  REQUIRE_MESSAGE(opened.ok(), opened.error().message);
  file::OpenFile& file = **opened;
  const Status viewed = self.run(file.set_view({.map = written.file.view}, {}, std::nullopt));
  REQUIRE_MESSAGE(viewed.ok(), viewed.error().message);
  const file::Outcome wrote =
      self.run(file.transfer_all(access_of(written, Direction::write), std::nullopt));
  CHECK_FALSE(wrote.error.has_value());
  CHECK(wrote.bytes == written.file.byte_count);
  const file::Outcome got =
      self.run(file.transfer_all(access_of(read, Direction::read), std::nullopt));
  CHECK_FALSE(got.error.has_value());
  CHECK(got.bytes == read.file.byte_count);
  CHECK(self.run(file.close()).ok());
}

Observed run(const Trial& trial) {
  std::vector<RankAccess> written = trial.ranks;
  std::vector<RankAccess> read = trial.ranks;
  for (RankAccess& access : read) std::ranges::fill(access.buffer, std::byte{0xAA});
  const std::unique_ptr<Job> job = Job::make(trial.settings).value();
  const Status ended = job->run(
      [&](RankOfJob& self) {
        const auto rank = static_cast<std::size_t>(self.rank());
        write_and_read(self, written[rank], read[rank], trial.hints);
      },
      hour);
  REQUIRE_MESSAGE(ended.ok(), ended.error().message);
  Observed observed{job->files().contents("f").value(),
                    {},
                    job->scheduler().now(),
                    job->scheduler().event_count(),
                    job->files().costs().counters_json()};
  for (RankAccess& access : read) observed.buffers.push_back(std::move(access.buffer));
  return observed;
}

/// What a rank's buffer must contain after it has read its bytes of `file`.
Bytes expected_buffer(const RankAccess& access, const Bytes& file) {
  Bytes buffer(access.buffer.size(), std::byte{0xAA});
  const std::vector<std::int64_t> in_file = access.file_offsets();
  const std::vector<std::int64_t> in_memory = access.memory_offsets();
  for (std::size_t i = 0; i < in_file.size(); ++i) {
    buffer[static_cast<std::size_t>(in_memory[i])] = file[static_cast<std::size_t>(in_file[i])];
  }
  return buffer;
}

}  // namespace

TEST_CASE("random jobs write and read the bytes that the serial oracle says") {
  const std::uint64_t first_seed = 21'000;
  for (int i = 0; i < repeats(150); ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    CAPTURE(seed);
    const Trial trial = random_trial(seed);
    const Observed observed = run(trial);
    Bytes expected = after_writes({}, trial.ranks);
    accept_any_winner(expected, observed.file, trial.ranks);
    CHECK(observed.file == expected);
    for (std::size_t rank = 0; rank < trial.ranks.size(); ++rank) {
      CHECK(observed.buffers[rank] == expected_buffer(trial.ranks[rank], observed.file));
    }
  }
}

TEST_CASE("equal jobs run equally: bytes, end, events, requests and locks") {
  const std::uint64_t first_seed = 77;
  for (int i = 0; i < repeats(20); ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    CAPTURE(seed);
    const Trial trial = random_trial(seed);
    CHECK(run(trial) == run(trial));
  }
}

/// Allocations meanwhile may leak: the stacks of ranks that never return are not unwound.
struct LeaksAllowed {
#ifdef __SANITIZE_ADDRESS__
  LeaksAllowed() { __lsan_disable(); }
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;
  ~LeaksAllowed() { __lsan_enable(); }
#endif
};

TEST_CASE("ranks that wait for each other are named") {
  [[maybe_unused]] const LeaksAllowed leaks_allowed;
  JobSettings settings;
  settings.nodes = plan::NodeMap::singles(2);
  const std::unique_ptr<Job> job = Job::make(settings).value();
  const Status ended = job->run(
      [](RankOfJob& self) {
        if (self.rank() == 1) static_cast<void>(self.open("f", read_write, {}));
      },
      hour);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().message == "waiting for each other: rank 1");
}

TEST_CASE("a rank deletes a file between two opens, and others wait for it") {
  JobSettings settings;
  settings.nodes = plan::NodeMap::singles(2);
  const std::unique_ptr<Job> job = Job::make(settings).value();
  const Status ended = job->run(
      [](RankOfJob& self) {
        constexpr SimulatedTime second = 1'000'000'000;
        const auto file = self.open("f", read_write, {});
        REQUIRE(file.ok());
        CHECK(self.run((*file)->close()).ok());
        if (self.rank() == 1) {
          self.job().scheduler().sleep(second);
          CHECK(self.remove("f").ok());
          CHECK(self.remove("f").error().error_class == ErrorClass::no_such_file);
        }
        self.barrier();
        CHECK(self.now() >= second);
        const auto again = self.open("f", {.read = true, .write = true}, {});
        REQUIRE_FALSE(again.ok());
        CHECK(again.error().error_class == ErrorClass::no_such_file);
      },
      hour);
  REQUIRE_MESSAGE(ended.ok(), ended.error().message);
}

TEST_CASE("a job without bytes takes the time of one with bytes") {
  for (const std::uint64_t seed : {3, 4, 5, 6, 7, 8}) {
    CAPTURE(seed);
    Trial trial = random_trial(seed);
    const auto end_of = [&] {
      std::vector<RankAccess> ranks = trial.ranks;
      const std::unique_ptr<Job> job = Job::make(trial.settings).value();
      const Status ended = job->run(
          [&](RankOfJob& self) {
            RankAccess& access = ranks[static_cast<std::size_t>(self.rank())];
            write_and_read(self, access, access, trial.hints);
          },
          hour);
      REQUIRE_MESSAGE(ended.ok(), ended.error().message);
      return job->scheduler().now();
    };
    const SimulatedTime with_bytes = end_of();
    trial.settings.phantom = true;
    CHECK(end_of() == with_bytes);
  }
}

}  // namespace nacre::sim
