#include <chrono>
#include <condition_variable>
#include <limits>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "sim/time/timing.h"

namespace nacre::sim {
namespace {

constexpr SimulatedTime never = std::numeric_limits<SimulatedTime>::max();

class RealSignal final : public Signal {
 public:
  void wait(std::unique_lock<std::mutex>& guard) override {
    // FUSE does not notify the condition variable of a signal of the system: callers poll for it.
    constexpr std::chrono::milliseconds poll_interval{50};
    changed_.wait_for(guard, poll_interval);
  }
  void notify_all() override { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

class RealAlarm final : public Alarm {
 public:
  explicit RealAlarm(std::function<void()> ring)
      : ring_(std::move(ring)), thread_([this] { run(); }) {}
  ~RealAlarm() override {
    {
      const std::lock_guard guard(mutex_);
      stopped_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void set(SimulatedTime time) override {
    const std::lock_guard guard(mutex_);
    if (time >= deadline_) return;
    deadline_ = time;
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock guard(mutex_);
    while (!stopped_) {
      if (monotonic_nanoseconds() < deadline_) {
        wait(guard);
        continue;
      }
      deadline_ = never;
      guard.unlock();
      ring_();
      guard.lock();
    }
  }
  void wait(std::unique_lock<std::mutex>& guard) {
    if (deadline_ == never) {
      changed_.wait(guard);
    } else {
      const std::chrono::nanoseconds since_start(deadline_);
      changed_.wait_until(guard, std::chrono::steady_clock::time_point(since_start));
    }
  }

  std::function<void()> ring_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  SimulatedTime deadline_ = never;
  bool stopped_ = false;
  std::thread thread_;
};

class RealTiming final : public Timing {
 public:
  [[nodiscard]] SimulatedTime now() const override { return monotonic_nanoseconds(); }
  [[nodiscard]] std::unique_ptr<Signal> make_signal() override {
    return std::make_unique<RealSignal>();
  }
  [[nodiscard]] std::unique_ptr<Alarm> make_alarm(std::function<void()> ring) override {
    return std::make_unique<RealAlarm>(std::move(ring));
  }
};

}  // namespace

Timing& real_timing() {
  static RealTiming instance;
  return instance;
}

}  // namespace nacre::sim
