// Threads of the library's own inside somebody else's program.
#ifndef NACRE_BASE_HELPER_THREAD_H_
#define NACRE_BASE_HELPER_THREAD_H_

#include <functional>

namespace nacre {

/// Starts a detached thread that runs `body`; false where the system has none left. It takes no
/// signals (they stay the program's) and may run on any core that the process may, even where the
/// calling thread is bound to one.
[[nodiscard]] bool start_helper_thread(std::function<void()> body);

}  // namespace nacre

#endif  // NACRE_BASE_HELPER_THREAD_H_
