// A lock that works in processes whose threads library is not initialised yet, and in signal
// handlers.
#ifndef NACRE_POSIX_SYSTEM_LOCK_H_
#define NACRE_POSIX_SYSTEM_LOCK_H_

#include <atomic>
#include <cstdint>

#include <signal.h>

namespace nacre::posix {

/// Threads sleep until a word changes: the system's futex.
class Event {
 public:
  [[nodiscard]] std::uint32_t now() const { return count_.load(std::memory_order_acquire); }
  /// Returns when raise() was called after `seen` = now(), or `seconds` have passed; may return
  /// earlier. 0 seconds: no limit.
  void wait(std::uint32_t seen, int seconds = 0);
  void raise();

 private:
  std::atomic<std::uint32_t> count_ = 0;
};

/// Not recursive. The holder blocks all signals, so that a handler in the same thread never finds
/// the lock held by the code that it interrupted, and a handler that jumps away leaves no lock.
class Lock {
 public:
  void acquire();
  void release();
  /// In a child of fork(): no thread holds it.
  void reset() { state_.store(0); }
  /// Releases the lock, waits for `event` (see Event::wait), and acquires the lock again.
  void wait(Event& event, int seconds = 0);

 private:
  void acquire_word();
  void release_word();
  std::atomic<std::uint32_t> state_ = 0;  // 0: free, 1: held, 2: held and waited for
  sigset_t before_{};                     // signals that the holder had blocked
};

/// In its scope the thread, and threads that it starts, get no signal.
class SignalsBlocked {
 public:
  SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_;
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.acquire(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { lock_.release(); }

 private:
  Lock& lock_;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_SYSTEM_LOCK_H_
