// Virtual time: events and fibers run in the order of their times, and time passes only for them.
#include "sim/time/scheduler.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::sim {
namespace {

constexpr SimulatedTime forever = std::numeric_limits<SimulatedTime>::max();

}  // namespace

TEST_CASE("events run in the order of their times, equal times in the order of their scheduling") {
  Scheduler scheduler;
  std::string order;
  scheduler.at(20, [&] { order += 'c'; });
  scheduler.at(10, [&] {
    order += 'a';
    scheduler.at(5, [&] { order += 'b'; });  // has passed: now
  });
  scheduler.at(20, [&] { order += 'd'; });
  CHECK(scheduler.run(forever));
  CHECK(order == "abcd");
  CHECK(scheduler.now() == 20);
}

TEST_CASE("a year of sleep takes no time") {
  constexpr SimulatedTime year = SimulatedTime{365} * 24 * 3600 * 1'000'000'000;
  Scheduler scheduler;
  SimulatedTime woken = 0;
  scheduler.start("sleeper", [&] {
    scheduler.sleep(year);
    woken = scheduler.now();
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK(scheduler.run(forever));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
  CHECK(woken == year);
}

TEST_CASE("fibers that sleep take turns by time") {
  Scheduler scheduler;
  std::string order;
  for (const int step : {3, 2}) {
    scheduler.start("sleeper", [&, step] {
      for (int i = 0; i < 3; ++i) {
        scheduler.sleep(step);
        order += static_cast<char>('0' + step);
      }
    });
  }
  CHECK(scheduler.run(forever));
  CHECK(order == "232323");  // at 2, 3, 4, 6, 6, 9; at 6 the fiber that began to sleep earlier
}

TEST_CASE("a fiber that waits continues when it is notified") {
  Scheduler scheduler;
  const std::unique_ptr<Signal> signal = scheduler.make_signal();
  std::mutex mutex;
  bool is_ready = false;
  SimulatedTime continued = 0;
  scheduler.start("waiter", [&] {
    std::unique_lock guard(mutex);
    while (!is_ready) signal->wait(guard);
    continued = scheduler.now();
  });
  scheduler.start("notifier", [&] {
    scheduler.sleep(7);
    const std::lock_guard guard(mutex);
    is_ready = true;
    signal->notify_all();
  });
  CHECK(scheduler.run(forever));
  CHECK(continued == 7);
}

TEST_CASE("a fiber that waits for ever is named") {
  Scheduler scheduler;
  FiberQueue nobody(scheduler);
  scheduler.start("rank 3", [&] { nobody.wait(); });
  CHECK_FALSE(scheduler.run(forever));
  CHECK(scheduler.stuck() == "rank 3");
}

TEST_CASE("an alarm rings at the earliest time that was set, and not after its end") {
  Scheduler scheduler;
  std::vector<SimulatedTime> rings;
  std::unique_ptr<Alarm> alarm;
  alarm = scheduler.make_alarm([&] {
    rings.push_back(scheduler.now());
    if (rings.size() == 1) alarm->set(40);
  });
  alarm->set(30);
  alarm->set(10);
  alarm->set(20);
  scheduler.at(50, [&] { alarm->set(60); });
  scheduler.at(55, [&] { alarm.reset(); });
  CHECK(scheduler.run(forever));
  CHECK(rings == std::vector<SimulatedTime>{10, 40});
}

TEST_CASE("a run stops at its limit of virtual time") {
  Scheduler scheduler;
  scheduler.start("endless", [&] {
    while (true) scheduler.sleep(1);
  });
  CHECK_FALSE(scheduler.run(1000));
  CHECK(scheduler.now() < 1000);
}

TEST_CASE("thousands of fibers run in one process") {
  Scheduler scheduler(64 << 10);
  std::int64_t sum = 0;
  for (int i = 0; i < 5'000; ++i) {
    scheduler.start("rank", [&, i] {
      scheduler.sleep(5'000 - i);
      sum += i;
    });
  }
  CHECK(scheduler.run(forever));
  CHECK(sum == std::int64_t{4'999} * 5'000 / 2);
}

}  // namespace nacre::sim
