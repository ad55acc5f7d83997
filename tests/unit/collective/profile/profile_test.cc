// Profile and Profiler: time is counted once, in the right phase, whichever thread progresses the
// operation.
#include "collective/profile/profile.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "collective/task/task.h"
#include "testing/in_process.h"

namespace nacre::collective {
namespace {

constexpr std::int64_t nap_nanoseconds = 20'000'000;

void nap() { std::this_thread::sleep_for(std::chrono::nanoseconds(nap_nanoseconds)); }

std::int64_t in(const Profile& profile, Phase phase) {
  return profile.nanoseconds[static_cast<std::size_t>(phase)].get();
}

std::int64_t sum_of(const Profile& profile) {
  std::int64_t sum = 0;
  for (const Tally& phase : profile.nanoseconds) sum += phase.get();
  return sum;
}

std::int64_t nanoseconds_of(Profiler& profiler) {
  return static_cast<std::int64_t>(static_cast<double>(profiler.ticks()) * nanoseconds_per_tick());
}

/// Shows what it is set to.
class HandClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t nanoseconds() const override { return now; }

  std::int64_t now = 0;
};

/// Works in `phase`, waits for a byte from rank 1, and works in `phase` again.
Task<int> wait_in(Transport& transport, Profiler& profiler, Phase phase) {
  ProfilerObserver observer(profiler);
  co_await ObservedBy{&observer};
  profiler.enter(phase);
  nap();
  std::byte byte{};
  std::vector<MessageId> messages;
  messages.push_back(transport.receive(1, std::span(&byte, 1)));
  co_await AllOf{messages};
  nap();
  co_await ObservedBy{nullptr};
  co_return 0;
}

void send_byte(testing::InProcessNetwork& network) {
  std::byte byte{};
  std::vector<MessageId> sends{network.transport(1).send(0, std::span(&byte, 1))};
  network.transport(1).test(sends);
}

}  // namespace

TEST_CASE("phases follow each other, and a scope restores the previous phase") {
  Profile profile;
  const std::int64_t begin = monotonic_nanoseconds();
  {
    Profiler profiler(profile, Phase::plan);
    CHECK(profiler.enter(Phase::copy) == Phase::plan);
    nap();
    {
      const PhaseScope scope(profiler, Phase::file);
      nap();
      CHECK(profiler.phase() == Phase::file);
    }
    CHECK(profiler.phase() == Phase::copy);
    CHECK(nanoseconds_of(profiler) >= 2 * nap_nanoseconds);
  }
  CHECK(in(profile, Phase::copy) >= nap_nanoseconds);
  CHECK(in(profile, Phase::file) >= nap_nanoseconds);
  CHECK(sum_of(profile) <= monotonic_nanoseconds() - begin);
}

TEST_CASE("calls are counted, whether or not they are timed by phase") {
  Profile profile(Sampling{.large_bytes = 1 << 20, .slow_nanoseconds = 1 << 20, .interval = 8});
  std::int64_t timed = 0;
  for (int i = 0; i < 1000; ++i) timed += profile.count_call(4) != 0 ? 1 : 0;
  CHECK(profile.calls.get() == 1000);
  CHECK(timed < 200);
}

TEST_CASE("a call of weight 0 is measured as a whole, and divided as the calls that stand for it") {
  Profile profile;
  const std::int64_t begin = monotonic_nanoseconds();
  {
    Profiler profiler(profile, Phase::file, 0);
    nap();
    CHECK(profiler.enter(Phase::copy) == Phase::file);
    CHECK(nanoseconds_of(profiler) >= nap_nanoseconds * 9 / 10);
  }
  CHECK(sum_of(profile) == 0);
  {
    Profiler profiler(profile, Phase::file, 10);
    nap();
    profiler.enter(Phase::lock);
    nap();
  }
  const std::int64_t passed = monotonic_nanoseconds() - begin;
  CHECK(in(profile, Phase::file) < passed);
  const auto times = profile.nanoseconds_by_phase();
  CHECK(times[static_cast<std::size_t>(Phase::file)] > in(profile, Phase::file));
  CHECK(times[static_cast<std::size_t>(Phase::lock)] > in(profile, Phase::lock));
  CHECK(profile.total_nanoseconds() >= 3 * nap_nanoseconds * 9 / 10);
  CHECK(profile.total_nanoseconds() <= passed * 11 / 10);
}

TEST_CASE("the timeline gets each phase of a call when it passed, and the profile all of them") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  HandClock clock;
  const ClockReplacement replacement(clock);
  Timeline expected;
  Timeline timeline;
  Profile profile;
  profile.timeline = &timeline;
  std::array<std::int64_t, phase_count> times{};
  for (int call = 0; call < 200; ++call) {
    clock.now += static_cast<std::int64_t>(random() % (1ULL << (random() % 24)));
    const std::int64_t begin = clock.now;
    std::int64_t away = 0;
    auto phase = static_cast<Phase>(random() % phase_count);
    Profiler profiler(profile, phase);
    for (std::uint64_t changes = random() % 20; changes > 0; --changes) {
      const auto time = static_cast<std::int64_t>(random() % (1ULL << (random() % 24)));
      times[static_cast<std::size_t>(phase)] += time;
      clock.now += time;
      if (phase == Phase::away) {
        away += time;
      } else {
        expected.add(activity_of_phase[static_cast<std::size_t>(phase)], clock.now - time,
                     clock.now);
      }
      phase = static_cast<Phase>(random() % phase_count);
      profiler.enter(phase);
    }
    CHECK(profiler.ticks() == clock.now - begin - away);
  }
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    CHECK(profile.nanoseconds[phase].get() == times[phase]);
  }
  const int log2 = expected.interval_log2();
  CHECK(timeline.interval_log2() == log2);
  CHECK(timeline.in_intervals_of(log2) == expected.in_intervals_of(log2));
}

TEST_CASE(
    "waiting for messages is the phase wait; an operation that is not progressed is in the phase "
    "away") {
  testing::InProcessNetwork network({.rank_count = 2, .send_mode = testing::SendMode::buffered});
  Profile profile;
  {
    Profiler profiler(profile, Phase::plan);
    Operation<int> operation(wait_in(network.transport(0), profiler, Phase::copy),
                             network.transport(0));
    CHECK_FALSE(operation.advance());
    nap();
    CHECK_FALSE(operation.advance());
    nap();
    send_byte(network);
    CHECK(operation.advance());
    CHECK(profiler.phase() == Phase::copy);
  }
  CHECK(in(profile, Phase::away) >= 2 * nap_nanoseconds);
  CHECK(in(profile, Phase::copy) >= nap_nanoseconds);
  CHECK(in(profile, Phase::wait) > 0);
  CHECK(in(profile, Phase::messages) == 0);
}

TEST_CASE("blocking in the network is the phase wait, except in the phase messages") {
  for (const Phase phase : {Phase::plan, Phase::copy, Phase::views, Phase::agreement}) {
    testing::InProcessNetwork network({.rank_count = 2, .send_mode = testing::SendMode::buffered});
    Profile profile;
    std::thread sender([&] {
      nap();
      nap();
      send_byte(network);
    });
    {
      Profiler profiler(profile, Phase::plan);
      Operation<int> operation(wait_in(network.transport(0), profiler, phase),
                               network.transport(0));
      operation.finish();
    }
    sender.join();
    const bool by_itself = phase == Phase::views || phase == Phase::agreement;
    CHECK((in(profile, Phase::wait) == 0) == by_itself);
    CHECK(in(profile, phase) >= 2 * nap_nanoseconds);
    CHECK(in(profile, Phase::away) == 0);
  }
}

TEST_CASE("calls of the store are counted by size") {
  Profile profile;
  constexpr std::int64_t huge = std::int64_t{1} << 60;
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4095},
                                   std::int64_t{4096}, std::int64_t{8191}, huge}) {
    profile.count_file_call({0, bytes}, 4096);
  }
  CHECK(profile.file_calls[0].get() == 1);
  CHECK(profile.file_calls[1].get() == 1);
  CHECK(profile.file_calls[12].get() == 1);
  CHECK(profile.file_calls[13].get() == 2);
  CHECK(profile.file_calls[61].get() == 1);
  CHECK(profile.file_call_count() == 6);
  CHECK(profile.file_bytes.get() == huge + 1 + 4095 + 4096 + 8191);
}

TEST_CASE("calls of the store that are not aligned, or go backward, are counted") {
  Profile profile;
  profile.count_file_call({0, 4096}, 4096);
  profile.count_file_call({4096, 8192}, 4096);
  CHECK(profile.unaligned_calls.get() == 0);
  profile.count_file_call({12'288, 100}, 4096);
  profile.count_file_call({12'388, 3996}, 4096);
  CHECK(profile.unaligned_calls.get() == 2);
  CHECK(profile.backward_calls.get() == 0);
  profile.count_file_call({0, 4096}, 4096);
  CHECK(profile.backward_calls.get() == 1);
}

}  // namespace nacre::collective
