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

constexpr std::array fatal_signals{SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT,   SIGBUS,
                                   SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,   SIGALRM,
                                   SIGTERM, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGSYS};

constinit Next<int(int, const struct sigaction*, struct sigaction*)> next_sigaction("sigaction");
constinit std::atomic<void (*)()> flush_at_end = nullptr;

bool is_fatal(int number) {
  return std::find(fatal_signals.begin(), fatal_signals.end(), number) != fatal_signals.end();
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

void end_process(int number, siginfo_t* information, void* /*context*/) {
  flush_at_end.load()();
  struct sigaction ending {};
  ending.sa_handler = SIG_DFL;
  next_sigaction(number, &ending, nullptr);
  // An instruction that failed fails again; other signals are sent again.
  const bool is_repeated = information->si_code > 0 && number != SIGABRT;
  if (!is_repeated) syscall(SYS_tgkill, system_process(), syscall(SYS_gettid), number);
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
  for (const int number : fatal_signals) {
    struct sigaction found {};
    if (next_sigaction(number, nullptr, &found) == 0 && is_default(found))
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

}  // namespace nacre::posix
