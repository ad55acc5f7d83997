// An owned file descriptor, and system calls that signals interrupt.
#ifndef NACRE_STORE_SYSTEM_DESCRIPTOR_H_
#define NACRE_STORE_SYSTEM_DESCRIPTOR_H_

#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace nacre::store {

/// Repeats `call` while it fails with EINTR. `call` returns -1 and sets errno on failure.
template <class Call>
[[nodiscard]] auto retry_interrupted(Call call) {
  decltype(call()) outcome{};
  do {
    outcome = call();
  } while (outcome == -1 && errno == EINTR);
  return outcome;
}

/// Owns a descriptor; -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }

  /// 0, or the errno of close(2): NFS, Lustre and quotas report errors of deferred writes here. The
  /// descriptor is closed in any case, even after EINTR (on Linux).
  [[nodiscard]] int close() {
    const int number = std::exchange(number_, -1);
    if (number < 0 || ::close(number) == 0 || errno == EINTR) return 0;
    return errno;
  }

 private:
  int number_;
};

/// Invalid, with errno, if `path` is no directory that can be read.
[[nodiscard]] inline Descriptor open_directory(const std::string& path) {
  return Descriptor(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

/// Opens the file of descriptor `number` again, with other flags of open(2), independent of its
/// name. Returns an invalid descriptor and sets errno on failure.
[[nodiscard]] inline Descriptor reopen(int number, int flags) {
  const std::string itself = "/proc/self/fd/" + std::to_string(number);
  return Descriptor(retry_interrupted([&] { return ::open(itself.c_str(), flags | O_CLOEXEC); }));
}

}  // namespace nacre::store

#endif  // NACRE_STORE_SYSTEM_DESCRIPTOR_H_
