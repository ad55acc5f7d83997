// Writes what is in memory when a signal ends the process.
#ifndef NACRE_POSIX_BUFFERING_FATAL_SIGNALS_H_
#define NACRE_POSIX_BUFFERING_FATAL_SIGNALS_H_

#include <signal.h>

namespace nacre::posix {

/// Catches the signals that end a process by default and that the program does not catch itself. A
/// caught signal calls `flush`, then ends the process as it would have. The program sees its own
/// dispositions: SIG_DFL where this library catches. Not for SIGKILL, nor for a stack that
/// overflows. `flush` must work in a signal handler.
void catch_fatal_signals(void (*flush)());

using SignalHandler = void (*)(int);

/// What the program's sigaction and signal do. They return as sigaction and signal do.
int set_signal_action(int number, const struct sigaction* wanted, struct sigaction* before);
SignalHandler set_signal_handler(int number, SignalHandler handler);

}  // namespace nacre::posix

#endif  // NACRE_POSIX_BUFFERING_FATAL_SIGNALS_H_
