// Background threads of the library inside a user's program.
#ifndef NACRE_BASE_HELPER_THREAD_H_
#define NACRE_BASE_HELPER_THREAD_H_

#include <functional>

namespace nacre {

/// Starts a detached thread that runs `body`. Returns false if the system cannot start a thread.
/// The thread blocks all signals, which leaves them to the program's threads. It may run on all
/// cores of the process's cpuset, even if the calling thread is bound to a core.
[[nodiscard]] bool start_helper_thread(std::function<void()> body);

}  // namespace nacre

#endif  // NACRE_BASE_HELPER_THREAD_H_
