// The order of an aggregator's file accesses, and their time in the profile of its rank: in its own
// time, or in that of helper threads.
#include "collective/files/file_jobs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "collective/files/round_file.h"
#include "store/forwarding.h"
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

/// Jobs that write one byte each. Threads run them if `thread_count` is not 0.
void run_jobs(Profiler& profiler, store::StoreFile& file, int thread_count, bool ends_them = true) {
  testing::InProcessNetwork network({});
  NoSource source;
  const auto rounds = make_segment_file({}, source, profiler);
  std::array<std::byte, 1> byte{};
  FileJobs jobs(network.transport(0), profiler, thread_count);
  for (int round = 0; round < job_count; ++round) {
    FileJob job;
    job.direction = plan::Direction::write;
    job.file = &file;
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

/// The same, and each write takes latency_nanoseconds.
void run_jobs(Profiler& profiler, int thread_count, bool ends_them = true) {
  testing::FaultyStore slow(std::make_shared<testing::MemoryStore>(),
                            testing::parse_fault_plan("latency_us=4000").value(), 0);
  const auto file = *slow.open("f", {.write = true, .create = true});
  run_jobs(profiler, *file, thread_count, ends_them);
}

std::int64_t in_phase(const Profile& profile, Phase phase) {
  return profile.nanoseconds[static_cast<std::size_t>(phase)].get();
}

/// Notes the offsets of its writes, and how many of them overlap in time.
class WatchedFile final : public store::ForwardingFile {
 public:
  using ForwardingFile::ForwardingFile;

  store::Transfer write(std::span<const store::WritePiece> pieces, std::int64_t offset) override {
    const int now = ++running_;
    {
      const std::lock_guard guard(mutex_);
      running_max_ = std::max(running_max_, now);
      offsets_.push_back(offset);
    }
    const store::Transfer transfer = ForwardingFile::write(pieces, offset);
    --running_;
    return transfer;
  }

  [[nodiscard]] int running_max() const { return running_max_; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  std::atomic<int> running_ = 0;
  std::mutex mutex_;
  int running_max_ = 0;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

TEST_CASE("one thread runs the jobs one after the other, although the process has more threads") {
  Profile profile;
  Profiler profiler(profile, Phase::copy);
  run_jobs(profiler, 3);  // starts three threads
  testing::FaultyStore slow(std::make_shared<testing::MemoryStore>(),
                            testing::parse_fault_plan("latency_us=1000").value(), 0);
  for (const int thread_count : {1, 2}) {
    CAPTURE(thread_count);
    WatchedFile file(*slow.open("g", {.write = true, .create = true}));
    run_jobs(profiler, file, thread_count);
    CHECK(file.running_max() <= thread_count);
    CHECK(std::ssize(file.offsets()) == job_count);
    if (thread_count == 1) CHECK(std::ranges::is_sorted(file.offsets()));
  }
}

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
