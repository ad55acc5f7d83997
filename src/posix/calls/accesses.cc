// read, write and their relatives.
#include <climits>
#include <cstdarg>

#include <pthread.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "posix/calls/process.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

using ReadAt = ssize_t(int, void*, std::size_t, off_t);
using WriteAt = ssize_t(int, const void*, std::size_t, off_t);
using Vectored = ssize_t(int, const iovec*, int);
using VectoredAt = ssize_t(int, const iovec*, int, off_t);
using VectoredWithFlags = ssize_t(int, const iovec*, int, off_t, int);

constinit Next<ssize_t(int, void*, std::size_t)> next_read("read");
constinit Next<ssize_t(int, const void*, std::size_t)> next_write("write");
constinit Next<ReadAt> next_pread("pread");
constinit Next<WriteAt> next_pwrite("pwrite");
constinit Next<Vectored> next_readv("readv");
constinit Next<Vectored> next_writev("writev");
constinit Next<VectoredAt> next_preadv("preadv");
constinit Next<VectoredAt> next_pwritev("pwritev");
constinit Next<VectoredWithFlags> next_preadv2("preadv2");
constinit Next<VectoredWithFlags> next_pwritev2("pwritev2");
constinit Next<ssize_t(int, int, off_t*, std::size_t)> next_sendfile("sendfile");
constinit Next<ssize_t(int, off_t*, int, off_t*, std::size_t, unsigned)> next_copy_file_range(
    "copy_file_range");
constinit Next<ssize_t(int, off_t*, int, off_t*, std::size_t, unsigned)> next_splice("splice");

constinit Next<int(int, const char*, va_list)> next_vdprintf("vdprintf");
constinit Next<int(int, int, const char*, va_list)> next_vdprintf_chk("__vdprintf_chk");

/// No position of its own: the access is at the descriptor's.
constexpr off_t at_position = -1;

Descriptor known_descriptor(int descriptor) {
  const Descriptor known = process.descriptors.get(descriptor);
  return known.is_known() && process.is_on() ? known : Descriptor{};
}

/// Carries a write out, in buffers or by `call`, and counts it.
template <class Call>
ssize_t write_by(int descriptor, std::span<const iovec> from, off_t offset, Call call) {
  const Descriptor known = known_descriptor(descriptor);
  if (!known.is_known()) return call();
  const Stopwatch watch;
  Outcome outcome;
  const bool is_buffered = known.buffered != 0 && known.can_write;
  if (is_buffered) pthread_testcancel();  // as the system's function; no lock is held here
  if (is_buffered)
    outcome = process.buffering.write(known.buffered, descriptor, from, offset, known.is_append);
  const bool is_direct = !outcome.is_done;
  if (is_direct) {
    outcome.value = call();
    process.changed(known);
  }
  process.count(known, AccessKind::write, outcome.value, watch.nanoseconds(), is_direct);
  return outcome.value;
}

template <class Call>
ssize_t read_by(int descriptor, void* to, std::size_t bytes, off_t offset, Call call) {
  const Descriptor known = known_descriptor(descriptor);
  if (!known.is_known()) return call();
  const Stopwatch watch;
  Outcome outcome;
  const bool is_buffered = known.buffered != 0 && known.can_read;
  if (is_buffered) pthread_testcancel();
  if (is_buffered)
    outcome = process.buffering.read(known.buffered, descriptor,
                                     {static_cast<std::byte*>(to), bytes}, offset);
  const bool is_direct = !outcome.is_done;
  if (is_direct) outcome.value = call();
  process.count(known, AccessKind::read, outcome.value, watch.nanoseconds(), is_direct);
  return outcome.value;
}

/// A call that buffers do not serve.
template <class Call>
ssize_t access_directly(int descriptor, AccessKind kind, Call call) {
  const Descriptor known = known_descriptor(descriptor);
  if (!known.is_known()) return call();
  const Stopwatch watch;
  process.flush(descriptor);
  const ssize_t result = call();
  if (kind == AccessKind::write) process.changed(known);
  process.count(known, kind, result, watch.nanoseconds(), true);
  return result;
}

template <class Call>
int print_directly(int descriptor, Call call) {
  return static_cast<int>(access_directly(descriptor, AccessKind::write, call));
}

/// A call that moves bytes from one file to another.
template <class Call>
ssize_t copy_by(int from, int to, Call call) {
  const Descriptor source = known_descriptor(from);
  const Descriptor target = known_descriptor(to);
  const Stopwatch watch;
  if (source.is_known()) process.flush(from);
  if (target.is_known()) process.flush(to);
  const ssize_t result = call();
  process.changed(target);
  process.count(source, AccessKind::read, result, watch.nanoseconds(), true);
  process.count(target, AccessKind::write, result, watch.nanoseconds(), true);
  return result;
}

/// The parts of a call; none if the system refuses the call: it says why.
std::span<const iovec> parts_of(const iovec* parts, int count) {
  if (count <= 0 || count > IOV_MAX) return {};
  const std::span found{parts, static_cast<std::size_t>(count)};
  return is_readable(parts, found.size_bytes()) ? found : std::span<const iovec>{};
}

}  // namespace

#pragma GCC visibility push(default)

ssize_t call_read(int descriptor, void* to, std::size_t bytes) asm("read");
ssize_t call_read(int descriptor, void* to, std::size_t bytes) {
  return read_by(descriptor, to, bytes, at_position,
                 [&] { return next_read(descriptor, to, bytes); });
}

ssize_t call_read_chk(int descriptor, void* to, std::size_t bytes,
                      std::size_t room) asm("__read_chk");
ssize_t call_read_chk(int descriptor, void* to, std::size_t bytes, std::size_t room) {
  if (bytes > room) __builtin_trap();
  return call_read(descriptor, to, bytes);
}

ssize_t call_write(int descriptor, const void* from, std::size_t bytes) asm("write");
ssize_t call_write(int descriptor, const void* from, std::size_t bytes) {
  const iovec part{const_cast<void*>(from), bytes};
  return write_by(descriptor, {&part, 1}, at_position,
                  [&] { return next_write(descriptor, from, bytes); });
}

ssize_t call_pread(int descriptor, void* to, std::size_t bytes, off_t offset) asm("pread");
ssize_t call_pread64(int descriptor, void* to, std::size_t bytes, off_t offset) asm("pread64")
    __attribute__((alias("pread")));
ssize_t call_pread(int descriptor, void* to, std::size_t bytes, off_t offset) {
  const auto call = [&] { return next_pread(descriptor, to, bytes, offset); };
  return offset < 0 ? call() : read_by(descriptor, to, bytes, offset, call);
}

ssize_t call_pread_chk(int descriptor, void* to, std::size_t bytes, off_t offset,
                       std::size_t room) asm("__pread_chk");
ssize_t call_pread64_chk(int descriptor, void* to, std::size_t bytes, off_t offset,
                         std::size_t room) asm("__pread64_chk")
    __attribute__((alias("__pread_chk")));
ssize_t call_pread_chk(int descriptor, void* to, std::size_t bytes, off_t offset,
                       std::size_t room) {
  if (bytes > room) __builtin_trap();
  return call_pread(descriptor, to, bytes, offset);
}

ssize_t call_pwrite(int descriptor, const void* from, std::size_t bytes,
                    off_t offset) asm("pwrite");
ssize_t call_pwrite64(int descriptor, const void* from, std::size_t bytes,
                      off_t offset) asm("pwrite64") __attribute__((alias("pwrite")));
ssize_t call_pwrite(int descriptor, const void* from, std::size_t bytes, off_t offset) {
  const auto call = [&] { return next_pwrite(descriptor, from, bytes, offset); };
  const iovec part{const_cast<void*>(from), bytes};
  return offset < 0 ? call() : write_by(descriptor, {&part, 1}, offset, call);
}

ssize_t call_readv(int descriptor, const iovec* parts, int count) asm("readv");
ssize_t call_readv(int descriptor, const iovec* parts, int count) {
  return access_directly(descriptor, AccessKind::read,
                         [&] { return next_readv(descriptor, parts, count); });
}

ssize_t call_writev(int descriptor, const iovec* parts, int count) asm("writev");
ssize_t call_writev(int descriptor, const iovec* parts, int count) {
  return write_by(descriptor, parts_of(parts, count), at_position,
                  [&] { return next_writev(descriptor, parts, count); });
}

ssize_t call_preadv(int descriptor, const iovec* parts, int count, off_t offset) asm("preadv");
ssize_t call_preadv64(int descriptor, const iovec* parts, int count, off_t offset) asm("preadv64")
    __attribute__((alias("preadv")));
ssize_t call_preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  return access_directly(descriptor, AccessKind::read,
                         [&] { return next_preadv(descriptor, parts, count, offset); });
}

ssize_t call_pwritev(int descriptor, const iovec* parts, int count, off_t offset) asm("pwritev");
ssize_t call_pwritev64(int descriptor, const iovec* parts, int count, off_t offset) asm("pwritev64")
    __attribute__((alias("pwritev")));
ssize_t call_pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  const auto call = [&] { return next_pwritev(descriptor, parts, count, offset); };
  return offset < 0 ? call() : write_by(descriptor, parts_of(parts, count), offset, call);
}

ssize_t call_preadv2(int descriptor, const iovec* parts, int count, off_t offset,
                     int flags) asm("preadv2");
ssize_t call_preadv64v2(int descriptor, const iovec* parts, int count, off_t offset,
                        int flags) asm("preadv64v2") __attribute__((alias("preadv2")));
ssize_t call_preadv2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return access_directly(descriptor, AccessKind::read,
                         [&] { return next_preadv2(descriptor, parts, count, offset, flags); });
}

ssize_t call_pwritev2(int descriptor, const iovec* parts, int count, off_t offset,
                      int flags) asm("pwritev2");
ssize_t call_pwritev64v2(int descriptor, const iovec* parts, int count, off_t offset,
                         int flags) asm("pwritev64v2") __attribute__((alias("pwritev2")));
ssize_t call_pwritev2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return access_directly(descriptor, AccessKind::write,
                         [&] { return next_pwritev2(descriptor, parts, count, offset, flags); });
}

ssize_t call_sendfile(int to, int from, off_t* offset, std::size_t bytes) asm("sendfile");
ssize_t call_sendfile64(int to, int from, off_t* offset, std::size_t bytes) asm("sendfile64")
    __attribute__((alias("sendfile")));
ssize_t call_sendfile(int to, int from, off_t* offset, std::size_t bytes) {
  return copy_by(from, to, [&] { return next_sendfile(to, from, offset, bytes); });
}

ssize_t call_copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset,
                             std::size_t bytes, unsigned flags) asm("copy_file_range");
// NOLINTNEXTLINE(readability-function-size): its parameters are the C library's.
ssize_t call_copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset,
                             std::size_t bytes, unsigned flags) {
  return copy_by(from, to, [&] {
    return next_copy_file_range(from, from_offset, to, to_offset, bytes, flags);
  });
}

ssize_t call_splice(int from, off_t* from_offset, int to, off_t* to_offset, std::size_t bytes,
                    unsigned flags) asm("splice");
// NOLINTNEXTLINE(readability-function-size): its parameters are the C library's.
ssize_t call_splice(int from, off_t* from_offset, int to, off_t* to_offset, std::size_t bytes,
                    unsigned flags) {
  return copy_by(from, to,
                 [&] { return next_splice(from, from_offset, to, to_offset, bytes, flags); });
}

// dprintf and its relatives write by functions that cannot be interposed.

int call_vdprintf(int descriptor, const char* format, va_list arguments) asm("vdprintf");
int call_vdprintf(int descriptor, const char* format, va_list arguments) {
  return print_directly(descriptor, [&] { return next_vdprintf(descriptor, format, arguments); });
}

int call_dprintf(int descriptor, const char* format, ...) asm("dprintf");
int call_dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int bytes = call_vdprintf(descriptor, format, arguments);
  va_end(arguments);
  return bytes;
}

int call_vdprintf_chk(int descriptor, int flag, const char* format,
                      va_list arguments) asm("__vdprintf_chk");
int call_vdprintf_chk(int descriptor, int flag, const char* format, va_list arguments) {
  return print_directly(descriptor,
                        [&] { return next_vdprintf_chk(descriptor, flag, format, arguments); });
}

int call_dprintf_chk(int descriptor, int flag, const char* format, ...) asm("__dprintf_chk");
int call_dprintf_chk(int descriptor, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int bytes = call_vdprintf_chk(descriptor, flag, format, arguments);
  va_end(arguments);
  return bytes;
}

#pragma GCC visibility pop

}  // namespace nacre::posix
