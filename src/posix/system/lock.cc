#include "posix/system/lock.h"

#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix/system/system.h"

namespace nacre::posix {
namespace {

constexpr std::size_t kernel_signal_set_bytes = 8;

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit = nullptr) {
  const ErrnoKeeper keeper;
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

/// The C library's function would leave out the signals that it uses itself (cancellation).
void set_mask(const sigset_t& mask, sigset_t* before) {
  const ErrnoKeeper keeper;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, kernel_signal_set_bytes);
}

sigset_t block_signals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigemptyset(&before);
  set_mask(all, &before);
  return before;
}

}  // namespace

SignalsBlocked::SignalsBlocked() : before_(block_signals()) {}
SignalsBlocked::~SignalsBlocked() { set_mask(before_, nullptr); }

void Event::wait(std::uint32_t seen, int seconds) {
  const timespec limit{.tv_sec = seconds, .tv_nsec = 0};
  if (now() == seen) futex(count_, FUTEX_WAIT, seen, seconds == 0 ? nullptr : &limit);
}

void Event::raise() {
  count_.fetch_add(1, std::memory_order_release);
  futex(count_, FUTEX_WAKE, INT_MAX);
}

void Lock::acquire_word() {
  std::uint32_t found = 0;
  if (state_.compare_exchange_strong(found, 1, std::memory_order_acquire)) return;
  if (found != 2) found = state_.exchange(2, std::memory_order_acquire);
  while (found != 0) {
    futex(state_, FUTEX_WAIT, 2);
    found = state_.exchange(2, std::memory_order_acquire);
  }
}

void Lock::release_word() {
  if (state_.exchange(0, std::memory_order_release) == 2) futex(state_, FUTEX_WAKE, 1);
}

void Lock::acquire() {
  const sigset_t before = block_signals();
  acquire_word();
  before_ = before;
}

void Lock::release() {
  const sigset_t before = before_;
  release_word();
  set_mask(before, nullptr);
}

void Lock::wait(Event& event, int seconds) {
  const sigset_t before = before_;
  const std::uint32_t seen = event.now();
  release_word();
  event.wait(seen, seconds);
  acquire_word();
  before_ = before;
}

}  // namespace nacre::posix
