#include "posix/system/system.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace nacre::posix {
namespace {

template <class Call>
ssize_t repeated(Call call) {
  while (true) {
    const long done = call();
    if (done >= 0 || errno != EINTR) return done;
  }
}

/// `flags` of statx: whose status. Kernels without statx (before 4.11) have no file here.
std::optional<FileIdentity> find_regular_file(int descriptor, const char* path, int flags) {
  const ErrnoKeeper keeper;
  struct statx status {};
  if (syscall(SYS_statx, descriptor, path, flags | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO,
              &status) != 0 ||
      !S_ISREG(status.stx_mode))
    return std::nullopt;
  return FileIdentity{makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

}  // namespace

std::optional<FileIdentity> regular_file(int descriptor) {
  return find_regular_file(descriptor, "", AT_EMPTY_PATH);
}

std::optional<FileIdentity> regular_file(int directory, const char* path) {
  return find_regular_file(directory, path, 0);
}

std::string_view path_of(int descriptor, std::span<char> room) {
  const ErrnoKeeper keeper;
  std::array<char, 32> link{"/proc/self/fd/"};
  std::to_chars(link.data() + std::strlen(link.data()), link.data() + link.size() - 1, descriptor);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link.data(), room.data(), room.size());
  return {room.data(), static_cast<std::size_t>(std::max(size, 0L))};
}

ssize_t system_read(int descriptor, void* to, std::size_t bytes, std::int64_t offset) {
  return repeated([&] { return syscall(SYS_pread64, descriptor, to, bytes, offset); });
}

ssize_t system_write(int descriptor, const void* from, std::size_t bytes, std::int64_t offset) {
  return repeated([&] { return syscall(SYS_pwrite64, descriptor, from, bytes, offset); });
}

ssize_t system_append(int descriptor, const void* from, std::size_t bytes) {
  return repeated([&] { return syscall(SYS_write, descriptor, from, bytes); });
}

std::int64_t system_seek(int descriptor, std::int64_t offset, int whence) {
  return syscall(SYS_lseek, descriptor, offset, whence);
}

int system_process() { return static_cast<int>(syscall(SYS_getpid)); }

std::byte* map_memory(std::size_t bytes) {
  const ErrnoKeeper keeper;
  const long address = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  return address == -1 ? nullptr : reinterpret_cast<std::byte*>(address);  // NOLINT: from a number
}

void unmap_memory(std::byte* memory, std::size_t bytes) {
  const ErrnoKeeper keeper;
  if (memory != nullptr) syscall(SYS_munmap, memory, bytes);
}

bool append_once(const char* path, std::string_view text) {
  const ErrnoKeeper keeper;
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
  const auto file =
      static_cast<int>(repeated([&] { return syscall(SYS_openat, AT_FDCWD, path, flags, 0666); }));
  if (file < 0) return false;
  const bool done = system_append(file, text.data(), text.size()) == std::ssize(text);
  syscall(SYS_close, file);
  return done;
}

void print_warning(std::string_view text) {
  const ErrnoKeeper keeper;
  (void)!system_append(STDERR_FILENO, text.data(), text.size());
}

}  // namespace nacre::posix
