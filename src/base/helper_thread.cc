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

/// Launchers bind ranks to a core; a helper that inherited the binding would take turns with the
/// rank. All bits set asks for what the cpuset allows.
void unbind() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

}  // namespace

bool start_helper_thread(std::function<void()> body) {
  // Blocked before the thread is made, so that none arrives in between.
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
  } catch (const std::exception&) {  // no thread, or no memory for one
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace nacre
