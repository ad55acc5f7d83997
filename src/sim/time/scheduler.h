// Scheduler: virtual time. Runs events and fibers in one thread, in the order of their times.
#ifndef NACRE_SIM_TIME_SCHEDULER_H_
#define NACRE_SIM_TIME_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sim/time/fiber.h"
#include "sim/time/timing.h"

namespace nacre::sim {

class Scheduler;

/// Fibers of a scheduler that wait for an event.
class FiberQueue {
 public:
  explicit FiberQueue(Scheduler& scheduler) : scheduler_(scheduler) {}
  /// Blocks the fiber that runs until notify_all().
  void wait();
  /// Continues the fibers, in the order in which they came, after the code that runs now.
  void notify_all();

 private:
  Scheduler& scheduler_;
  std::vector<std::uint64_t> waiting_;  // ids of fibers
};

/// Time stands still while code runs, and moves to the next event when no code can run. Events of
/// the same time run in the order in which they were scheduled, so equal programs run equally.
/// Virtual time begins at 0. Used by one thread. Signals and alarms must not outlive it.
class Scheduler final : public Timing, public Clock {
 public:
  explicit Scheduler(std::size_t stack_bytes = std::size_t{256} << 10U)
      : stack_bytes_(stack_bytes) {}

  [[nodiscard]] SimulatedTime now() const override { return now_; }
  [[nodiscard]] std::int64_t nanoseconds() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Signal> make_signal() override;
  [[nodiscard]] std::unique_ptr<Alarm> make_alarm(std::function<void()> ring) override;

  /// Runs `act` at `time`, or now if it has passed. `act` does not block.
  void at(SimulatedTime time, std::function<void()> act);
  /// Runs `body` in a fiber, from now on. The body may block. `name` is for stuck().
  void start(const std::string& name, const std::function<void()>& body);

  // For the body of a fiber:
  void sleep(SimulatedTime length);
  void sleep_until(SimulatedTime time);
  /// Runs events until there is none, or none before `time_max`. Returns whether all fibers have
  /// ended.
  bool run(SimulatedTime time_max);
  /// The names of some fibers that have not ended, for messages.
  [[nodiscard]] std::string stuck() const;
  [[nodiscard]] bool has_events() const { return !events_.empty(); }
  /// Calls `observe` after each `count` events, between them. It changes nothing.
  void observe_every(std::int64_t count, std::function<void()> observe);
  /// The number of events so far.
  [[nodiscard]] std::int64_t event_count() const { return event_count_; }

 private:
  friend class FiberQueue;
  struct Event {
    SimulatedTime time;
    std::uint64_t order;
    std::function<void()> act;
  };
  struct NamedFiber {
    NamedFiber(std::string its_name, std::function<void()> body, std::size_t stack_bytes)
        : name(std::move(its_name)), fiber(std::move(body), stack_bytes) {}
    std::string name;
    Fiber fiber;
  };
  static bool is_later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
  [[nodiscard]] Event take_next();
  /// Continues a fiber.
  void resume(std::uint64_t fiber);
  /// Stops the fiber that runs.
  void suspend();

  std::size_t stack_bytes_;
  SimulatedTime now_ = 0;
  SimulatedTime time_max_ = 0;
  std::uint64_t next_order_ = 0;
  std::int64_t event_count_ = 0;
  std::int64_t observed_count_ = 0;  // 0: nobody observes
  std::function<void()> observe_;
  std::vector<Event> events_;                   // a heap
  std::map<std::uint64_t, NamedFiber> fibers_;  // by id; those that have not ended
  std::uint64_t next_fiber_ = 1;
  std::uint64_t running_ = 0;  // id of the fiber that runs; 0: none
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_SCHEDULER_H_
