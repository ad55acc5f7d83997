// Keeps the limit on file sizes an error instead of a signal that kills the program.
#ifndef NACRE_STORE_POSIX_FILE_SIZE_SIGNAL_H_
#define NACRE_STORE_POSIX_FILE_SIZE_SIGNAL_H_

#include <csignal>
#include <cstdint>
#include <optional>

namespace nacre::store {

/// While it lives, a call of this thread that meets RLIMIT_FSIZE fails with EFBIG and the SIGXFSZ
/// that comes with it (setrlimit(2)) is taken away. A SIGXFSZ that was pending before stays
/// pending. Costs one system call where there is no limit; the limit is looked at each time since
/// the program may set it between two writes. Lives and dies in one thread.
class FileSizeSignalGuard {
 public:
  FileSizeSignalGuard();
  FileSizeSignalGuard(const FileSizeSignalGuard&) = delete;
  FileSizeSignalGuard& operator=(const FileSizeSignalGuard&) = delete;
  ~FileSizeSignalGuard();

  /// RLIMIT_FSIZE, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> limit_bytes() const { return limit_bytes_; }

 private:
  std::optional<std::uint64_t> limit_bytes_;
  bool was_pending_ = false;
  sigset_t previous_mask_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_FILE_SIZE_SIGNAL_H_
