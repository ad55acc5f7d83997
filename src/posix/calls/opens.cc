// open and its relatives, dup, close. As in all files of this room, a function of the C library is
// defined under a C++ name of its own and the system's name in the library: so the system's headers
// may be included, whatever their declarations. On 64-bit systems open and open64 are one function,
// and so are the other pairs.
#include <cstdarg>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "posix/calls/process.h"
#include "posix/system/next.h"

static_assert(sizeof(off_t) == 8, "on 32-bit systems open and open64 differ");

namespace nacre::posix {
namespace {

constinit Next<int(int, const char*, int, mode_t)> next_openat("openat");
constinit Next<int(char*)> next_mkstemp("mkstemp");
constinit Next<int(char*, int)> next_mkostemp("mkostemp");
constinit Next<int(char*, int)> next_mkstemps("mkstemps");
constinit Next<int(char*, int, int)> next_mkostemps("mkostemps");
constinit Next<int(int)> next_close("close");
constinit Next<int(int)> next_dup("dup");
constinit Next<int(int, int)> next_dup2("dup2");
constinit Next<int(int, int, int)> next_dup3("dup3");
constinit Next<int(int, int, long)> next_fcntl("fcntl");
constinit Next<int(int, int)> next_flock("flock");
constinit Next<int(int, int, off_t)> next_lockf("lockf");
constinit Next<int(unsigned, unsigned, int)> next_close_range("close_range");
constinit Next<void(int)> next_closefrom("closefrom");
constinit Next<int(int)> next_unshare("unshare");

// Of <linux/close_range.h>, which older systems lack.
constexpr int close_range_unshare = 1 << 1;
constexpr int close_range_cloexec = 1 << 2;

mode_t mode_of(int flags, va_list arguments) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? va_arg(arguments, mode_t) : 0;
}

int open_at(int directory, const char* path, int flags, mode_t mode, const void* caller) {
  if (!process.is_on() || process.is_left_out(caller))
    return next_openat(directory, path, flags, mode);
  if ((flags & O_TRUNC) != 0) process.flush(directory, path);
  const Stopwatch watch;
  const int descriptor = next_openat(directory, path, flags, mode);
  const std::int64_t took = watch.nanoseconds();
  if (descriptor >= 0) {
    process.opened(descriptor, path, flags, took);
  } else if (is_of_job(path)) {
    process.files.elsewhere.failed_opens.add(took);
  }
  return descriptor;
}

/// A call that acquires or releases a lock. A lock in any file may protect the bytes of others:
/// whoever acquires it next reads them, and this process reads them anew.
template <class Call>
int change_lock(Call call) {
  if (!process.is_on() || !process.buffering.is_on()) return call();
  process.buffering.flush_and_forget_all();
  const int result = call();
  const ErrnoKeeper keeper;
  process.buffering.forget_all();  // what other threads have read ahead while this one waited
  return result;
}

/// A file whose name is made up by `call`, which returns its descriptor.
template <class Call>
int make_temporary(const char* path, int flags, Call call) {
  const Stopwatch watch;
  const int descriptor = call();
  if (descriptor >= 0 && process.is_on())
    process.opened(descriptor, path, flags | O_CREAT | O_RDWR, watch.nanoseconds());
  return descriptor;
}

/// Forgets all descriptors from `first` to `last`.
void forget_range(unsigned first, unsigned last) {
  for (unsigned one = first; one <= last && one < Descriptors::capacity; ++one) {
    process.closing(static_cast<int>(one));
  }
}

/// dup2 and dup3 close `copy` first, if it is open.
template <class Call>
int duplicate_to(int descriptor, int copy, Call call) {
  if (!process.is_on() || descriptor == copy) return call();
  if (next_fcntl(descriptor, F_GETFD, 0) < 0) return call();  // fails, and closes nothing
  const Descriptor known = process.descriptors.get(descriptor);
  process.closing(copy);
  const int result = call();
  if (result >= 0 && known.is_known()) process.duplicated(descriptor, copy);
  return result;
}

}  // namespace

#pragma GCC visibility push(default)

int call_open(const char* path, int flags, ...) asm("open");
int call_open64(const char* path, int flags, ...) asm("open64") __attribute__((alias("open")));
int call_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, path, flags, mode, __builtin_return_address(0));
}

int call_openat(int directory, const char* path, int flags, ...) asm("openat");
int call_openat64(int directory, const char* path, int flags, ...) asm("openat64")
    __attribute__((alias("openat")));
int call_openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(directory, path, flags, mode, __builtin_return_address(0));
}

int call_creat(const char* path, mode_t mode) asm("creat");
int call_creat64(const char* path, mode_t mode) asm("creat64") __attribute__((alias("creat")));
int call_creat(const char* path, mode_t mode) {
  constexpr int flags = O_CREAT | O_WRONLY | O_TRUNC;
  return open_at(AT_FDCWD, path, flags, mode, __builtin_return_address(0));
}

// The functions that _FORTIFY_SOURCE calls.
int call_open_2(const char* path, int flags) asm("__open_2");
int call_open64_2(const char* path, int flags) asm("__open64_2") __attribute__((alias("__open_2")));
int call_open_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0, __builtin_return_address(0));
}

int call_openat_2(int directory, const char* path, int flags) asm("__openat_2");
int call_openat64_2(int directory, const char* path, int flags) asm("__openat64_2")
    __attribute__((alias("__openat_2")));
int call_openat_2(int directory, const char* path, int flags) {
  return open_at(directory, path, flags, 0, __builtin_return_address(0));
}

int call_mkstemp(char* path) asm("mkstemp");
int call_mkstemp64(char* path) asm("mkstemp64") __attribute__((alias("mkstemp")));
int call_mkstemp(char* path) {
  return make_temporary(path, 0, [&] { return next_mkstemp(path); });
}

int call_mkostemp(char* path, int flags) asm("mkostemp");
int call_mkostemp64(char* path, int flags) asm("mkostemp64") __attribute__((alias("mkostemp")));
int call_mkostemp(char* path, int flags) {
  return make_temporary(path, flags, [&] { return next_mkostemp(path, flags); });
}

int call_mkstemps(char* path, int suffix) asm("mkstemps");
int call_mkstemps64(char* path, int suffix) asm("mkstemps64") __attribute__((alias("mkstemps")));
int call_mkstemps(char* path, int suffix) {
  return make_temporary(path, 0, [&] { return next_mkstemps(path, suffix); });
}

int call_mkostemps(char* path, int suffix, int flags) asm("mkostemps");
int call_mkostemps64(char* path, int suffix, int flags) asm("mkostemps64")
    __attribute__((alias("mkostemps")));
int call_mkostemps(char* path, int suffix, int flags) {
  return make_temporary(path, flags, [&] { return next_mkostemps(path, suffix, flags); });
}

int call_close(int descriptor) asm("close");
int call_close(int descriptor) {
  if (!process.descriptors.get(descriptor).is_known() || !process.is_on())
    return next_close(descriptor);
  int error = 0;
  const Stopwatch watch;
  const Descriptor known = process.closing(descriptor, error);
  const int result = next_close(descriptor);
  process.count(known, CallKind::close, watch.nanoseconds());
  if (result < 0 || error == 0) return result;
  errno = error;
  return -1;
}

int call_close_range(unsigned first, unsigned last, int flags) asm("close_range");
int call_close_range(unsigned first, unsigned last, int flags) {
  if (next_close_range.get() == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (!process.is_on() || first > last) return next_close_range(first, last, flags);
  if ((flags & close_range_unshare) != 0) process.buffering.stop();
  if ((flags & close_range_cloexec) == 0) forget_range(first, last);
  return next_close_range(first, last, flags);
}

void call_closefrom(int first) asm("closefrom");
void call_closefrom(int first) {
  if (process.is_on() && first >= 0)
    forget_range(static_cast<unsigned>(first), Descriptors::capacity);
  next_closefrom(first);
}

int call_unshare(int flags) asm("unshare");
int call_unshare(int flags) {
  if ((flags & CLONE_FILES) != 0 && process.is_on()) process.buffering.stop();
  return next_unshare(flags);
}

int call_dup(int descriptor) asm("dup");
int call_dup(int descriptor) {
  const int copy = next_dup(descriptor);
  if (copy >= 0 && process.descriptors.get(descriptor).is_known() && process.is_on())
    process.duplicated(descriptor, copy);
  return copy;
}

int call_dup2(int descriptor, int copy) asm("dup2");
int call_dup2(int descriptor, int copy) {
  return duplicate_to(descriptor, copy, [&] { return next_dup2(descriptor, copy); });
}

int call_dup3(int descriptor, int copy, int flags) asm("dup3");
int call_dup3(int descriptor, int copy, int flags) {
  return duplicate_to(descriptor, copy, [&] { return next_dup3(descriptor, copy, flags); });
}

int call_fcntl(int descriptor, int command, ...) asm("fcntl");
int call_fcntl64(int descriptor, int command, ...) asm("fcntl64") __attribute__((alias("fcntl")));
int call_fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  const bool is_known = process.descriptors.get(descriptor).is_known() && process.is_on();
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                     command == F_OFD_SETLKW;
  const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  const bool only_looks = command == F_GETFD || command == F_SETFD || command == F_GETFL;
  if (is_known && !copies && !only_looks) process.leave_alone(descriptor);  // locks, O_APPEND
  const auto call = [&] { return next_fcntl(descriptor, command, argument); };
  const int result = locks ? change_lock(call) : call();
  if (is_known && copies && result >= 0) process.duplicated(descriptor, result);
  return result;
}

int call_flock(int descriptor, int operation) asm("flock");
int call_flock(int descriptor, int operation) {
  if (process.descriptors.get(descriptor).is_known() && process.is_on())
    process.leave_alone(descriptor);
  return change_lock([&] { return next_flock(descriptor, operation); });
}

int call_lockf(int descriptor, int command, off_t bytes) asm("lockf");
int call_lockf64(int descriptor, int command, off_t bytes) asm("lockf64")
    __attribute__((alias("lockf")));
int call_lockf(int descriptor, int command, off_t bytes) {
  if (process.descriptors.get(descriptor).is_known() && process.is_on())
    process.leave_alone(descriptor);
  return change_lock([&] { return next_lockf(descriptor, command, bytes); });
}

#pragma GCC visibility pop

}  // namespace nacre::posix
