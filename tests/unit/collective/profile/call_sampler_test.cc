// CallSampler: which calls are timed by phase.
#include "collective/profile/call_sampler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/clock.h"

namespace nacre::collective {

TEST_CASE("large calls and the first calls are all timed; small calls are sampled") {
  CallSampler sampler(independent_sampling);
  std::int64_t number = 0;
  for (int i = 0; i < 32; ++i) CHECK(sampler.weight_of(number++, 4) == 1);
  constexpr int calls = 100'000;
  std::int64_t weights = 0;
  for (int i = 0; i < calls; ++i) weights += sampler.weight_of(number++, 4);
  CHECK(weights > calls * 99 / 100);
  CHECK(weights < calls * 101 / 100);
  CHECK(sampler.weight_of(number, 1 << 20) == 1);
}

TEST_CASE("large calls between small ones do not make a sample stand for too many") {
  for (const int small_of_ten : {1, 5, 9}) {
    CAPTURE(small_of_ten);
    CallSampler sampler(independent_sampling);
    std::int64_t number = 32;
    constexpr int calls = 1'000'000;
    std::int64_t weights = 0;
    for (int i = 0; i < calls; ++i) {
      const bool is_small = i % 10 < small_of_ten;
      const std::int64_t weight = sampler.weight_of(number++, is_small ? 4 : 1 << 20);
      CHECK((is_small || weight == 1));
      if (is_small) weights += weight;
    }
    CHECK(weights > calls / 10 * small_of_ten * 8 / 10);
    CHECK(weights < calls / 10 * small_of_ten * 12 / 10);
  }
}

TEST_CASE("a call that several threads could sample is sampled once") {
  CallSampler sampler({.large_bytes = 1 << 20, .slow_nanoseconds = 1 << 20, .interval = 8});
  constexpr std::int64_t calls = 80'000;
  std::atomic<std::int64_t> numbers = 32;
  std::atomic<std::int64_t> weights = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::int64_t number = numbers++; number < calls; number = numbers++) {
        weights += sampler.weight_of(number, 4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(weights <= calls);
}

TEST_CASE("slow calls are all timed") {
  CallSampler sampler(independent_sampling);
  std::int64_t number = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK(sampler.weight_of(number++, 4) == 1);
    sampler.note(independent_sampling.slow_nanoseconds * 2);
  }
}

TEST_CASE("a program with a periodic sequence of calls is sampled evenly") {
  for (const int period : {2, 3, 8, 31, 32, 33, 64}) {
    CAPTURE(period);
    CallSampler sampler(independent_sampling);
    std::int64_t number = 0;
    std::vector<std::int64_t> weights(static_cast<std::size_t>(period));
    const int rounds = 10'000;
    for (int i = 0; i < rounds * period; ++i) {
      weights[static_cast<std::size_t>(i % period)] += sampler.weight_of(number++, 4);
    }
    for (const std::int64_t weight : weights) {
      CHECK(weight > rounds / 2);
      CHECK(weight < rounds * 2);
    }
  }
}

TEST_CASE("while calls are slow all are timed, and soon after they are fast again one in many") {
  CallSampler sampler({.large_bytes = 1 << 20, .slow_nanoseconds = 1000, .interval = 8});
  std::int64_t number = 0;
  const auto timed_of = [&](int calls, std::int64_t duration) {
    int timed = 0;
    for (int i = 0; i < calls; ++i) {
      if (sampler.weight_of(number++, 4) == 0) continue;
      ++timed;
      sampler.note(duration);
    }
    return timed;
  };
  CHECK(timed_of(32, 10) == 32);
  const int fast = timed_of(800, 10);
  CHECK(fast >= 98);
  CHECK(fast <= 102);
  // The first sample that is slow enough shows it.
  CHECK(timed_of(800, 1'000'000) >= 784);
  const int fast_again = timed_of(800, 10);
  CHECK(fast_again > 98);
  CHECK(fast_again < 250);
}

TEST_CASE("while a clock is replaced all calls are timed") {
  struct Zero final : Clock {
    [[nodiscard]] std::int64_t nanoseconds() const override { return 0; }
  };
  const Zero zero;
  const ClockReplacement replacement(zero);
  CallSampler sampler(independent_sampling);
  for (std::int64_t number = 0; number < 1000; ++number) CHECK(sampler.weight_of(number, 4) == 1);
}

TEST_CASE("the time of recent calls follows the calls") {
  CallSampler sampler(independent_sampling);
  for (int i = 0; i < 100; ++i) sampler.note(80'000);
  CHECK(sampler.recent_nanoseconds() > 79'000);
  for (int i = 0; i < 100; ++i) sampler.note(1'000);
  CHECK(sampler.recent_nanoseconds() < 1'100);
}

}  // namespace nacre::collective
