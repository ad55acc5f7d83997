// The time of an aggregator's file accesses in the profile of its rank: in its own time, or in that
// of helper threads.
#include "collective/files/file_jobs.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include <doctest/doctest.h>

#include "collective/files/round_file.h"
#include "testing/faults/faulty_store.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::collective {
namespace {

constexpr std::int64_t latency_nanoseconds = 4'000'000;
constexpr int job_count = 6;

class NoSource final : public FileSource {
 public:
  Result<store::StoreFile*> file() override { return nullptr; }
};

/// Jobs that write one byte each, which takes latency_nanoseconds. Threads run them if
/// `thread_count` is not 0.
void run_jobs(Profiler& profiler, int thread_count, bool ends_them = true) {
  testing::InProcessNetwork network({});
  testing::FaultyStore slow(std::make_shared<testing::MemoryStore>(),
                            testing::parse_fault_plan("latency_us=4000").value(), 0);
  const auto file = *slow.open("f", {.write = true, .create = true});
  NoSource source;
  const auto rounds = make_segment_file({}, source, profiler);
  std::array<std::byte, 1> byte{};
  FileJobs jobs(network.transport(0), profiler, thread_count);
  for (int round = 0; round < job_count; ++round) {
    FileJob job;
    job.direction = plan::Direction::write;
    job.file = file.get();
    job.buffer = byte.data();
    job.ranges = {{{0, 1}, round}};
    jobs.start(round, std::move(job));
  }
  while (ends_them && !jobs.empty()) {
    if (auto job = jobs.take_oldest()) {
      rounds->finish(*job);
    } else {
      std::this_thread::yield();
    }
  }
}

std::int64_t in_phase(const Profile& profile, Phase phase) {
  return profile.nanoseconds[static_cast<std::size_t>(phase)].get();
}

}  // namespace

TEST_CASE("the time of accesses in threads is counted, but in no phase") {
  Profile profile;
  const std::int64_t begin = monotonic_nanoseconds();
  {
    Profiler profiler(profile, Phase::copy);
    run_jobs(profiler, 3);
  }
  const std::int64_t passed = monotonic_nanoseconds() - begin;
  const std::int64_t booked = profile.file_thread_nanoseconds.get();
  CHECK(booked >= job_count * latency_nanoseconds);
  CHECK(booked <= job_count * passed);
  CHECK(in_phase(profile, Phase::file) == 0);
  CHECK(in_phase(profile, Phase::copy) <= passed);
  CHECK(profile.file_call_count() == job_count);
}

TEST_CASE("accesses of a call that ends early are counted too") {
  Profile profile;
  Profiler profiler(profile, Phase::copy);
  run_jobs(profiler, 2, false);
  CHECK(profile.file_thread_nanoseconds.get() >= job_count * latency_nanoseconds);
}

TEST_CASE("the weight of a call applies to its accesses in threads too") {
  Profile sampled;
  Profiler thrice(sampled, Phase::copy, 3);
  run_jobs(thrice, 2);
  CHECK(sampled.file_thread_nanoseconds.get() >= 3 * job_count * latency_nanoseconds);
  Profile untimed;
  Profiler never(untimed, Phase::copy, 0);
  run_jobs(never, 2);
  CHECK(untimed.file_thread_nanoseconds.get() == 0);
  CHECK(untimed.file_call_count() == job_count);
}

TEST_CASE("accesses in the rank's own thread are a phase of its call") {
  Profile profile;
  {
    Profiler profiler(profile, Phase::copy);
    run_jobs(profiler, 0);
  }
  CHECK(in_phase(profile, Phase::file) >= job_count * latency_nanoseconds);
  CHECK(profile.file_thread_nanoseconds.get() == 0);
}

}  // namespace nacre::collective
