#include "posix/system/system.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <linux/futex.h>
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

constinit std::optional<FileIdentity> standard_error;

FileIdentity identity_of(const struct statx& status) {
  return {makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

/// Of the descriptor itself if `path` is empty. Kernels without statx (before 4.11) have no file
/// here.
bool get_status(int descriptor, const char* path, struct statx& status) {
  const ErrnoKeeper keeper;
  return syscall(SYS_statx, descriptor, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                 STATX_TYPE | STATX_INO, &status) == 0;
}

std::optional<FileIdentity> file_of(int descriptor) {
  struct statx status {};
  if (!get_status(descriptor, "", status)) return std::nullopt;
  return identity_of(status);
}

std::optional<FileIdentity> find_regular_file(int descriptor, const char* path) {
  struct statx status {};
  if (!get_status(descriptor, path, status) || !S_ISREG(status.stx_mode)) return std::nullopt;
  return identity_of(status);
}

/// Calls `probe` with an address of each page, aligned for any word; it sets errno.
template <class Address, class Probe>
bool all_pages(Address begin, std::size_t bytes, Probe probe) {
  constexpr std::uintptr_t page = 4096;
  const ErrnoKeeper keeper;
  if (bytes == 0) return true;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + bytes - 1;
  if (last < first) return false;
  for (std::uintptr_t at = first; at <= last; at = at / page * page + page) {
    errno = 0;
    probe(at & ~(sizeof(std::uint64_t) - 1));
    if (errno == EFAULT) return false;
  }
  return true;
}

}  // namespace

std::optional<FileIdentity> regular_file(int descriptor) {
  return find_regular_file(descriptor, "");
}

std::optional<FileIdentity> regular_file(int directory, const char* path) {
  return path == nullptr ? std::nullopt : find_regular_file(directory, path);
}

bool is_readable(const void* from, std::size_t bytes) {
  // The system reads the set of signals before it refuses what to do with it.
  constexpr int no_operation = -1;
  return all_pages(from, bytes, [](std::uintptr_t at) {
    syscall(SYS_rt_sigprocmask, no_operation, at, nullptr, sizeof(std::uint64_t));
  });
}

bool is_writable(void* to, std::size_t bytes) {
  // An atomic OR with zero, which wakes nobody.
  static std::uint32_t unused = 0;
  constexpr unsigned or_with_zero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
  return all_pages(to, bytes, [](std::uintptr_t at) {
    syscall(SYS_futex, &unused, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, at, or_with_zero);
  });
}

bool is_empty(int descriptor) {
  const ErrnoKeeper keeper;
  struct statx status {};
  return syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_SIZE, &status) == 0 &&
         status.stx_size == 0;
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

std::byte* map_own_memory(std::size_t bytes) {
  std::byte* const memory = map_memory(bytes);
  const ErrnoKeeper keeper;
  if (memory != nullptr) syscall(SYS_madvise, memory, bytes, MADV_DONTFORK);
  return memory;
}

std::byte* map_wiped_memory(std::size_t bytes) {
  std::byte* const memory = map_memory(bytes);
  const ErrnoKeeper keeper;
  if (memory == nullptr || syscall(SYS_madvise, memory, bytes, MADV_WIPEONFORK) == 0) return memory;
  unmap_memory(memory, bytes);
  return nullptr;
}

void unmap_memory(std::byte* memory, std::size_t bytes) {
  const ErrnoKeeper keeper;
  if (memory != nullptr) syscall(SYS_munmap, memory, bytes);
}

int append_once(const char* path, std::string_view text) {
  const ErrnoKeeper keeper;
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
  const auto file =
      static_cast<int>(repeated([&] { return syscall(SYS_openat, AT_FDCWD, path, flags, 0666); }));
  if (file < 0) return errno;
  const std::int64_t done = system_append(file, text.data(), text.size());
  const int error = done < 0 ? errno : ENOSPC;
  syscall(SYS_close, file);
  return done == std::ssize(text) ? 0 : error;
}

void note_standard_error() { standard_error = file_of(STDERR_FILENO); }

void print_warning(std::string_view text) {
  const ErrnoKeeper keeper;
  if (!standard_error || file_of(STDERR_FILENO) != standard_error) return;
  (void)!system_append(STDERR_FILENO, text.data(), text.size());
}

}  // namespace nacre::posix
