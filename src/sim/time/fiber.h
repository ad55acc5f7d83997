// Fiber: a function with a stack of its own, which stops in the middle and continues later.
// Blocking code, such as a call of a store, can thus wait in virtual time.
#ifndef NACRE_SIM_TIME_FIBER_H_
#define NACRE_SIM_TIME_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace nacre::sim {

/// All calls come from one thread. Destroying a fiber that has not ended leaks what its stack owns.
class Fiber {
 public:
  /// `body` runs at the first resume().
  Fiber(std::function<void()> body, std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs until the body calls suspend() or ends. Not called from a fiber.
  void resume();
  /// Returns from resume(). Called by the body.
  void suspend();
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  struct Context;
  void run();

  std::function<void()> body_;
  std::unique_ptr<Context> context_;
  bool has_ended_ = false;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_TIME_FIBER_H_
