#include "base/helper_thread.h"

#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <signal.h>

namespace nacre {
namespace {

/// Launchers bind a rank to a core. A thread that inherits the binding competes with the rank for
/// this core. With all bits set, the kernel allows all cores of the cpuset.
void unbind() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

}  // namespace

bool start_helper_thread(std::function<void()> body) {
  // The thread inherits the blocked signals, so it receives none even while it starts.
  sigset_t every_signal;
  sigset_t before;
  sigfillset(&every_signal);
  pthread_sigmask(SIG_SETMASK, &every_signal, &before);
  bool started = true;
  try {
    std::thread([body = std::move(body)] {
      unbind();
      body();
    }).detach();
  } catch (const std::exception&) {  // no thread or no memory available
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace nacre
