#include "store/system/file_size_signal.h"

#include <cerrno>
#include <ctime>

#include <sys/resource.h>

namespace nacre::store {
namespace {

sigset_t only_file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeSignalGuard::FileSizeSignalGuard() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const sigset_t signal = only_file_size_signal();
  if (pthread_sigmask(SIG_BLOCK, &signal, &previous_mask_) != 0) return;
  limit_bytes_ = limit.rlim_cur;
  sigset_t pending;
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

FileSizeSignalGuard::~FileSizeSignalGuard() {
  if (!limit_bytes_) return;
  const int saved_errno = errno;
  if (!was_pending_) {
    const sigset_t signal = only_file_size_signal();
    const timespec at_once{};
    while (sigtimedwait(&signal, nullptr, &at_once) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
  errno = saved_errno;
}

}  // namespace nacre::store
