// Timing: which time it is for a model, and how its callers wait: threads against the clock (the
// testbed), or fibers in virtual time (Scheduler).
#ifndef NACRE_SIM_TIME_TIMING_H_
#define NACRE_SIM_TIME_TIMING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace nacre::sim {

/// Nanoseconds since an arbitrary start.
using SimulatedTime = std::int64_t;
inline constexpr SimulatedTime microsecond = 1000;

/// What callers of a model wait for: a condition variable.
class Signal {
 public:
  virtual ~Signal() = default;
  /// Releases `guard` meanwhile. May return early: callers check their condition again.
  virtual void wait(std::unique_lock<std::mutex>& guard) = 0;
  virtual void notify_all() = 0;
};

/// Calls a function when a time has come. No call follows its destructor.
class Alarm {
 public:
  virtual ~Alarm() = default;
  /// The function is called at `time` or soon after it. Times that were set before and are later
  /// than `time` do not count. Thread-safe.
  virtual void set(SimulatedTime time) = 0;
};

class Timing {
 public:
  virtual ~Timing() = default;
  [[nodiscard]] virtual SimulatedTime now() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Signal> make_signal() = 0;
  /// `ring` may set the alarm again.
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm(std::function<void()> ring) = 0;
};

/// Threads and the clock of the process.
[[nodiscard]] Timing& real_timing();

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_TIMING_H_
