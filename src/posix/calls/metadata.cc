// stat and its relatives, lseek, fsync, ftruncate, mmap, ioctl.
#include <cstdarg>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix/calls/process.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

using StatPath = int(const char*, struct stat*);
using OldStatPath = int(int, const char*, struct stat*);

constinit Next<StatPath> next_stat("stat");
constinit Next<StatPath> next_lstat("lstat");
constinit Next<int(int, struct stat*)> next_fstat("fstat");
constinit Next<int(int, const char*, struct stat*, int)> next_fstatat("fstatat");
constinit Next<int(int, const char*, int, unsigned, struct statx*)> next_statx("statx");
constinit Next<OldStatPath> next_xstat("__xstat");
constinit Next<OldStatPath> next_lxstat("__lxstat");
constinit Next<int(int, int, struct stat*)> next_fxstat("__fxstat");
constinit Next<int(int, int, const char*, struct stat*, int)> next_fxstatat("__fxstatat");
constinit Next<int(const char*, int)> next_access("access");
constinit Next<int(int, const char*, int, int)> next_faccessat("faccessat");
constinit Next<off_t(int, off_t, int)> next_lseek("lseek");
constinit Next<int(int)> next_fsync("fsync");
constinit Next<int(int)> next_fdatasync("fdatasync");
constinit Next<void()> next_sync("sync");
constinit Next<int(int)> next_syncfs("syncfs");
constinit Next<int(int, off_t)> next_ftruncate("ftruncate");
constinit Next<int(const char*, off_t)> next_truncate("truncate");
constinit Next<int(int, int, off_t, off_t)> next_fallocate("fallocate");
constinit Next<int(int, off_t, off_t)> next_posix_fallocate("posix_fallocate");
constinit Next<void*(void*, std::size_t, int, int, int, off_t)> next_mmap("mmap");
constinit Next<int(int, unsigned long, void*)> next_ioctl("ioctl");

/// Counts a stat that took `took`, of a path or of a descriptor.
void count_stat(int result, std::uint32_t file, const char* path, std::int64_t took) {
  if (!process.is_counting()) return;
  ElsewhereCounts& elsewhere = process.files.elsewhere;
  if (file != 0) {
    process.files.counts(file)[CallKind::stat].add(took);
  } else if (path != nullptr && (result == 0 || errno != EFAULT) && !is_of_system(path)) {
    (result == 0 ? elsewhere.stats : elsewhere.failed_stats).add(took);
  }
}

/// The stat of a path by `call`. Its size is that of a file without buffers.
template <class Call>
int stat_path(const char* path, const struct stat& status, Call call) {
  if (!process.is_on()) return call();
  const Stopwatch watch;
  int result = call();
  const ErrnoKeeper keeper;
  const bool is_file = result == 0 && S_ISREG(status.st_mode);
  const FileIdentity identity{status.st_dev, status.st_ino};
  if (is_file && process.buffering.is_on() && process.buffering.flush(identity)) result = call();
  count_stat(result, is_file ? process.files.find(identity) : 0, path, watch.nanoseconds());
  return result;
}

/// The stat of a descriptor by `call`.
template <class Call>
int stat_descriptor(int descriptor, Call call) {
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known() || !process.is_on()) return call();
  const Stopwatch watch;
  if (known.buffered != 0) process.buffering.flush(known.buffered);
  const int result = call();
  count_stat(result, known.file, nullptr, watch.nanoseconds());
  return result;
}

template <class Call>
int stat_at(int descriptor, const char* path, int flags, const struct stat& status, Call call) {
  const bool is_of_descriptor = (flags & AT_EMPTY_PATH) != 0 && (path == nullptr || *path == '\0');
  return is_of_descriptor ? stat_descriptor(descriptor, call) : stat_path(path, status, call);
}

template <class Call>
int look_up(const char* path, Call call) {
  const Stopwatch watch;
  const int result = call();
  const ErrnoKeeper keeper;
  if (process.is_on()) count_stat(result, 0, path, watch.nanoseconds());
  return result;
}

/// A call that forces bytes to the disk, or changes the file's size.
template <class Call>
int change(int descriptor, CallKind kind, Call call) {
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known() || !process.is_on()) return call();
  const Stopwatch watch;
  if (known.buffered != 0) process.buffering.flush_and_forget(known.buffered);
  const int result = call();
  if (kind != CallKind::sync) process.changed(known);
  process.count(known, kind, watch.nanoseconds());
  if (known.buffered == 0 || kind != CallKind::sync || result != 0) return result;
  const int error = process.buffering.take_error(known.buffered);
  if (error == 0) return result;
  errno = error;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)

int call_stat(const char* path, struct stat* status) asm("stat");
int call_stat64(const char* path, struct stat* status) asm("stat64") __attribute__((alias("stat")));
int call_stat(const char* path, struct stat* status) {
  return stat_path(path, *status, [&] { return next_stat(path, status); });
}

int call_lstat(const char* path, struct stat* status) asm("lstat");
int call_lstat64(const char* path, struct stat* status) asm("lstat64")
    __attribute__((alias("lstat")));
int call_lstat(const char* path, struct stat* status) {
  return stat_path(path, *status, [&] { return next_lstat(path, status); });
}

int call_fstat(int descriptor, struct stat* status) asm("fstat");
int call_fstat64(int descriptor, struct stat* status) asm("fstat64")
    __attribute__((alias("fstat")));
int call_fstat(int descriptor, struct stat* status) {
  return stat_descriptor(descriptor, [&] { return next_fstat(descriptor, status); });
}

int call_fstatat(int descriptor, const char* path, struct stat* status, int flags) asm("fstatat");
int call_fstatat64(int descriptor, const char* path, struct stat* status,
                   int flags) asm("fstatat64") __attribute__((alias("fstatat")));
int call_fstatat(int descriptor, const char* path, struct stat* status, int flags) {
  return stat_at(descriptor, path, flags, *status,
                 [&] { return next_fstatat(descriptor, path, status, flags); });
}

int call_statx(int descriptor, const char* path, int flags, unsigned mask,
               struct statx* status) asm("statx");
int call_statx(int descriptor, const char* path, int flags, unsigned mask, struct statx* status) {
  const auto call = [&] { return next_statx(descriptor, path, flags, mask, status); };
  if (process.is_on() && process.buffering.is_on()) {
    const auto found = path == nullptr ? regular_file(descriptor) : regular_file(descriptor, path);
    if (found) process.buffering.flush(*found);
  }
  return look_up(path, call);
}

// The functions that programs call which were built with glibc before 2.33.
int call_xstat(int version, const char* path, struct stat* status) asm("__xstat");
int call_xstat64(int version, const char* path, struct stat* status) asm("__xstat64")
    __attribute__((alias("__xstat")));
int call_xstat(int version, const char* path, struct stat* status) {
  return stat_path(path, *status, [&] { return next_xstat(version, path, status); });
}

int call_lxstat(int version, const char* path, struct stat* status) asm("__lxstat");
int call_lxstat64(int version, const char* path, struct stat* status) asm("__lxstat64")
    __attribute__((alias("__lxstat")));
int call_lxstat(int version, const char* path, struct stat* status) {
  return stat_path(path, *status, [&] { return next_lxstat(version, path, status); });
}

int call_fxstat(int version, int descriptor, struct stat* status) asm("__fxstat");
int call_fxstat64(int version, int descriptor, struct stat* status) asm("__fxstat64")
    __attribute__((alias("__fxstat")));
int call_fxstat(int version, int descriptor, struct stat* status) {
  return stat_descriptor(descriptor, [&] { return next_fxstat(version, descriptor, status); });
}

int call_fxstatat(int version, int descriptor, const char* path, struct stat* status,
                  int flags) asm("__fxstatat");
int call_fxstatat64(int version, int descriptor, const char* path, struct stat* status,
                    int flags) asm("__fxstatat64") __attribute__((alias("__fxstatat")));
int call_fxstatat(int version, int descriptor, const char* path, struct stat* status, int flags) {
  return stat_at(descriptor, path, flags, *status,
                 [&] { return next_fxstatat(version, descriptor, path, status, flags); });
}

int call_access(const char* path, int mode) asm("access");
int call_access(const char* path, int mode) {
  return look_up(path, [&] { return next_access(path, mode); });
}

int call_faccessat(int directory, const char* path, int mode, int flags) asm("faccessat");
int call_faccessat(int directory, const char* path, int mode, int flags) {
  return look_up(path, [&] { return next_faccessat(directory, path, mode, flags); });
}

off_t call_lseek(int descriptor, off_t offset, int whence) asm("lseek");
off_t call_lseek64(int descriptor, off_t offset, int whence) asm("lseek64")
    __attribute__((alias("lseek")));
off_t call_lseek(int descriptor, off_t offset, int whence) {
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known() || !process.is_on()) return next_lseek(descriptor, offset, whence);
  const Stopwatch watch;
  // Where bytes will be appended, and where the file ends, only the file itself knows.
  const bool depends_on_size = known.is_append || (whence != SEEK_SET && whence != SEEK_CUR);
  if (known.buffered != 0 && depends_on_size) process.buffering.flush(known.buffered);
  const off_t result = next_lseek(descriptor, offset, whence);
  process.count(known, CallKind::seek, watch.nanoseconds());
  return result;
}

int call_fsync(int descriptor) asm("fsync");
int call_fsync(int descriptor) {
  return change(descriptor, CallKind::sync, [&] { return next_fsync(descriptor); });
}

int call_fdatasync(int descriptor) asm("fdatasync");
int call_fdatasync(int descriptor) {
  return change(descriptor, CallKind::sync, [&] { return next_fdatasync(descriptor); });
}

void call_sync() asm("sync");
void call_sync() {
  if (process.is_on()) process.buffering.flush_all();
  next_sync();
}

int call_syncfs(int descriptor) asm("syncfs");
int call_syncfs(int descriptor) {
  if (process.is_on()) process.buffering.flush_all();
  return next_syncfs(descriptor);
}

int call_ftruncate(int descriptor, off_t size) asm("ftruncate");
int call_ftruncate64(int descriptor, off_t size) asm("ftruncate64")
    __attribute__((alias("ftruncate")));
int call_ftruncate(int descriptor, off_t size) {
  return change(descriptor, CallKind::truncate, [&] { return next_ftruncate(descriptor, size); });
}

int call_truncate(const char* path, off_t size) asm("truncate");
int call_truncate64(const char* path, off_t size) asm("truncate64")
    __attribute__((alias("truncate")));
int call_truncate(const char* path, off_t size) {
  if (!process.is_on()) return next_truncate(path, size);
  process.flush(AT_FDCWD, path);
  const int result = next_truncate(path, size);
  const ErrnoKeeper keeper;
  process.flush(AT_FDCWD, path);  // what another thread has read ahead meanwhile
  return result;
}

int call_fallocate(int descriptor, int mode, off_t offset, off_t bytes) asm("fallocate");
int call_fallocate64(int descriptor, int mode, off_t offset, off_t bytes) asm("fallocate64")
    __attribute__((alias("fallocate")));
int call_fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  return change(descriptor, CallKind::truncate,
                [&] { return next_fallocate(descriptor, mode, offset, bytes); });
}

int call_posix_fallocate(int descriptor, off_t offset, off_t bytes) asm("posix_fallocate");
int call_posix_fallocate64(int descriptor, off_t offset, off_t bytes) asm("posix_fallocate64")
    __attribute__((alias("posix_fallocate")));
int call_posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  return change(descriptor, CallKind::truncate,
                [&] { return next_posix_fallocate(descriptor, offset, bytes); });
}

void* call_mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor,
                off_t offset) asm("mmap");
void* call_mmap64(void* address, std::size_t bytes, int protection, int flags, int descriptor,
                  off_t offset) asm("mmap64") __attribute__((alias("mmap")));
// NOLINTNEXTLINE(readability-function-size): its parameters are the C library's.
void* call_mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor,
                off_t offset) {
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known() || (flags & MAP_ANONYMOUS) != 0 || !process.is_on())
    return next_mmap(address, bytes, protection, flags, descriptor, offset);
  const Stopwatch watch;
  process.leave_alone_for_good(descriptor);
  void* const result = next_mmap(address, bytes, protection, flags, descriptor, offset);
  process.count(known, CallKind::map, watch.nanoseconds());
  return result;
}

/// FIONREAD returns how many bytes are left to read. Other requests clone or lock files, and some
/// name a second file.
int call_ioctl(int descriptor, unsigned long request, ...) asm("ioctl");
int call_ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const Descriptor known = process.descriptors.get(descriptor);
  if (known.buffered != 0 && process.is_on()) {
    if (request == FIONREAD) {
      process.buffering.flush(known.buffered);
    } else {
      process.buffering.flush_and_forget_all();
    }
  }
  const int result = next_ioctl(descriptor, request, argument);
  if (process.is_on()) process.changed(known);
  return result;
}

#pragma GCC visibility pop

}  // namespace nacre::posix
