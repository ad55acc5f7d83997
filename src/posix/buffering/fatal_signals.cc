#include "posix/buffering/fatal_signals.h"

#include <algorithm>
#include <array>
#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

#include "posix/system/next.h"
#include "posix/system/system.h"

namespace nacre::posix {
namespace {

// Signals that do not end a process by default, or that no process can catch.
constexpr std::array other_signals{SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN,
                                   SIGTTOU, SIGCHLD, SIGURG,  SIGWINCH};

constinit Next<SignalHandler(int, SignalHandler)> next_signal("signal");
constinit Next<int(int, const struct sigaction*, struct sigaction*)> next_sigaction("sigaction");
constinit std::atomic<void (*)()> flush_at_end = nullptr;

bool is_fatal(int number) {
  // The C library keeps the first real-time signals, under SIGRTMIN, for itself.
  const bool is_known = (number > 0 && number <= SIGSYS) || (number >= SIGRTMIN && number < NSIG);
  return is_known &&
         std::find(other_signals.begin(), other_signals.end(), number) == other_signals.end();
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

/// Whether the instruction that caused the signal fails again when the handler returns.
bool is_repeated(const siginfo_t& information) {
  const int number = information.si_signo;
  return information.si_code > 0 &&
         (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

void end_process(int number, siginfo_t* information, void* /*context*/) {
  flush_at_end.load()();
  struct sigaction ending {};
  ending.sa_handler = SIG_DFL;
  next_sigaction(number, &ending, nullptr);
  if (!is_repeated(*information))
    syscall(SYS_tgkill, system_process(), syscall(SYS_gettid), number);
}

bool is_own(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == end_process;
}

struct sigaction own_action() {
  struct sigaction action {};
  action.sa_sigaction = end_process;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  return action;
}

}  // namespace

void catch_fatal_signals(void (*flush)()) {
  if (flush_at_end.exchange(flush) != nullptr) return;
  const struct sigaction own = own_action();
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction found {};
    if (is_fatal(number) && next_sigaction(number, nullptr, &found) == 0 && is_default(found))
      next_sigaction(number, &own, nullptr);
  }
}

int set_signal_action(int number, const struct sigaction* wanted, struct sigaction* before) {
  const bool is_caught = flush_at_end.load() != nullptr && is_fatal(number);
  const struct sigaction own = own_action();
  const bool wants_default = wanted != nullptr && is_default(*wanted);
  const int result = next_sigaction(number, is_caught && wants_default ? &own : wanted, before);
  if (result == 0 && before != nullptr && is_own(*before)) {
    before->sa_flags = 0;
    before->sa_handler = SIG_DFL;
  }
  return result;
}

SignalHandler set_signal_handler(int number, SignalHandler handler) {
  if (flush_at_end.load() == nullptr || !is_fatal(number)) return next_signal(number, handler);
  if (handler == SIG_DFL) {
    const struct sigaction wanted {};
    struct sigaction before {};
    return set_signal_action(number, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
  }
  struct sigaction found {};
  next_sigaction(number, nullptr, &found);
  const SignalHandler before = next_signal(number, handler);
  return before != SIG_ERR && is_own(found) ? SIG_DFL : before;
}

}  // namespace nacre::posix
