// Turns SIGXFSZ, which kills the program at the limit on file sizes, into an error.
#ifndef NACRE_STORE_SYSTEM_FILE_SIZE_SIGNAL_H_
#define NACRE_STORE_SYSTEM_FILE_SIZE_SIGNAL_H_

#include <csignal>
#include <cstdint>
#include <optional>

namespace nacre::store {

/// During its lifetime a call of this thread that exceeds RLIMIT_FSIZE fails with EFBIG, and the
/// SIGXFSZ of that call is discarded. A SIGXFSZ that was pending before stays pending. Costs one
/// system call if there is no limit; it reads the limit each time, because the program may set it
/// between two writes. Constructed and destroyed in the same thread.
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

#endif  // NACRE_STORE_SYSTEM_FILE_SIZE_SIGNAL_H_
