// Streams of stdio. The C library accesses their files by functions that cannot be interposed: a
// stream is counted by its calls, and is buffered by stdio itself, in a larger buffer.
#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "posix/calls/process.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

constinit Next<FILE*(const char*, const char*)> next_fopen("fopen");
constinit Next<FILE*(const char*, const char*, FILE*)> next_freopen("freopen");
constinit Next<FILE*(int, const char*)> next_fdopen("fdopen");
constinit Next<int(FILE*)> next_fclose("fclose");
constinit Next<int(FILE*)> next_fflush("fflush");
constinit Next<std::size_t(void*, std::size_t, std::size_t, FILE*)> next_fread("fread");
constinit Next<std::size_t(const void*, std::size_t, std::size_t, FILE*)> next_fwrite("fwrite");
constinit Next<int(const char*, FILE*)> next_fputs("fputs");
constinit Next<int(int, FILE*)> next_fputc("fputc");
constinit Next<char*(char*, int, FILE*)> next_fgets("fgets");
constinit Next<int(FILE*)> next_fgetc("fgetc");
constinit Next<ssize_t(char**, std::size_t*, int, FILE*)> next_getdelim("getdelim");
constinit Next<int(FILE*, const char*, va_list)> next_vfprintf("vfprintf");
constinit Next<int(FILE*, int, const char*, va_list)> next_vfprintf_chk("__vfprintf_chk");
constinit Next<int(FILE*, off_t, int)> next_fseeko("fseeko");

/// Buffers that streams were given, by descriptor.
struct StreamBuffer {
  std::byte* memory;
  std::size_t bytes;
  int seeks;  ///< of the program
};
/// stdio fills the whole buffer after each seek: after so many, the stream is accessed at random.
constexpr int seeks_max = 8;
constexpr std::size_t usual_bytes = 4096;
constinit std::atomic<StreamBuffer*> stream_buffers = nullptr;

StreamBuffer* stream_buffer(int descriptor) {
  if (descriptor < 0 || descriptor >= Descriptors::capacity) return nullptr;
  if (stream_buffers.load() == nullptr) {
    constexpr std::size_t bytes = Descriptors::capacity * sizeof(StreamBuffer);
    auto* const made = reinterpret_cast<StreamBuffer*>(map_memory(bytes));
    StreamBuffer* before = nullptr;
    if (!stream_buffers.compare_exchange_strong(before, made))
      unmap_memory(reinterpret_cast<std::byte*>(made), bytes);
  }
  StreamBuffer* const all = stream_buffers.load();
  return all == nullptr ? nullptr : &all[descriptor];
}

void enlarge_buffer(FILE* stream, const char* path) {
  const Rule* const rule = process.buffering.rule_for(fileno(stream), path);
  StreamBuffer* const buffer = rule == nullptr ? nullptr : stream_buffer(fileno(stream));
  if (buffer == nullptr) return;
  const auto bytes = static_cast<std::size_t>(rule->size);
  std::byte* const memory = map_memory(bytes);
  if (memory == nullptr) return;
  *buffer = {memory, bytes, 0};
  setvbuf(stream, reinterpret_cast<char*>(memory), _IOFBF, bytes);
}

/// Before a seek: of the enlarged buffer only the first bytes are used if there are many.
void note_seek(FILE* stream) {
  if (stream_buffers.load() == nullptr || stream == nullptr) return;
  StreamBuffer* const buffer = stream_buffer(fileno_unlocked(stream));
  if (buffer == nullptr || buffer->memory == nullptr || ++buffer->seeks != seeks_max) return;
  if (__fbufsize(stream) == buffer->bytes)  // the program has given it no other buffer
    setvbuf(stream, reinterpret_cast<char*>(buffer->memory), _IOFBF, usual_bytes);
}

/// The bytes of one access of the stream to its file.
std::int64_t buffer_bytes(FILE* stream) {
  return static_cast<std::int64_t>(std::max(__fbufsize(stream), usual_bytes));
}

Descriptor known_stream(FILE* stream) {
  if (!process.is_counting() || stream == nullptr) return {};
  const ErrnoKeeper keeper;
  const Descriptor known = process.descriptors.get(fileno_unlocked(stream));
  return known.is_stream ? known : Descriptor{};
}

/// Counts a call on a stream that moved `bytes`. The stream's accesses to the file are those of a
/// buffer that fills up again and again; stdio moves what is larger than the buffer by itself.
void count(const Descriptor& known, FILE* stream, AccessKind kind, std::int64_t bytes,
           std::int64_t took) {
  if (known.file == 0) return;
  process.count(known, kind, bytes, took, false);
  if (bytes <= 0) return;
  AccessCounts& counts = process.files.counts(known.file)[kind];
  const std::int64_t buffer = buffer_bytes(stream);
  const std::int64_t after = counts.bytes.get();
  const std::int64_t filled = after / buffer - (after - bytes) / buffer;
  if (bytes >= buffer) {
    counts.add_file_call(bytes);
  } else if (filled > 0) {
    counts.add_file_calls(filled, buffer);
  }
}

template <class Call, class Bytes>
auto access_stream(FILE* stream, AccessKind kind, Call call, Bytes bytes_of) {
  const Descriptor known = known_stream(stream);
  if (known.file == 0) return call();
  const Stopwatch watch;
  const auto result = call();
  const ErrnoKeeper keeper;
  count(known, stream, kind, static_cast<std::int64_t>(bytes_of(result)), watch.nanoseconds());
  return result;
}

/// The flags of open() that a mode of fopen() stands for.
int flags_of(const char* mode) {
  const bool is_update = std::strchr(mode, '+') != nullptr;
  if (*mode == 'r') return is_update ? O_RDWR : O_RDONLY;
  return (is_update ? O_RDWR : O_WRONLY) | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
}

FILE* opened(FILE* stream, const char* path, const char* mode, std::int64_t took) {
  if (stream == nullptr) {
    if (is_of_job(path)) process.files.elsewhere.failed_opens.add(took);
    return stream;
  }
  const ErrnoKeeper keeper;
  process.opened_stream(fileno(stream), path, flags_of(mode), took);
  if (process.buffering.is_on()) enlarge_buffer(stream, path);
  return stream;
}

/// The bytes that remained in the buffer of a stream that is closed.
void count_rest(const Descriptor& known, std::int64_t buffer) {
  for (const AccessKind kind : {AccessKind::stream_read, AccessKind::stream_write}) {
    AccessCounts& counts = process.files.counts(known.file)[kind];
    const std::int64_t rest = counts.bytes.get() - counts.file_bytes.get();
    if (rest > 0 && rest < buffer) counts.add_file_call(rest);
  }
}

}  // namespace

#pragma GCC visibility push(default)

FILE* call_fopen(const char* path, const char* mode) asm("fopen");
FILE* call_fopen64(const char* path, const char* mode) asm("fopen64")
    __attribute__((alias("fopen")));
FILE* call_fopen(const char* path, const char* mode) {
  if (!process.is_on() || process.is_left_out(__builtin_return_address(0)))
    return next_fopen(path, mode);
  if (*mode == 'w') process.flush(AT_FDCWD, path);
  const Stopwatch watch;
  FILE* const stream = next_fopen(path, mode);
  return opened(stream, path, mode, watch.nanoseconds());
}

int call_fclose(FILE* stream) asm("fclose");
int call_fclose(FILE* stream) {
  if (!process.is_on() || stream == nullptr) return next_fclose(stream);
  const int descriptor = fileno(stream);
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known()) return next_fclose(stream);
  const std::int64_t buffer = buffer_bytes(stream);
  const Stopwatch watch;
  StreamBuffer own{};
  if (StreamBuffer* const slot = stream_buffers.load() ? stream_buffer(descriptor) : nullptr)
    std::swap(own, *slot);
  int error = 0;
  (void)process.closing(descriptor, error);
  const int result = next_fclose(stream);
  if (result == 0 && error != 0) errno = error;
  const ErrnoKeeper keeper;
  unmap_memory(own.memory, own.bytes);
  process.count(known, CallKind::close, watch.nanoseconds());
  if (known.file != 0) count_rest(known, buffer);
  return error == 0 ? result : EOF;
}

FILE* call_freopen(const char* path, const char* mode, FILE* stream) asm("freopen");
FILE* call_freopen64(const char* path, const char* mode, FILE* stream) asm("freopen64")
    __attribute__((alias("freopen")));
FILE* call_freopen(const char* path, const char* mode, FILE* stream) {
  if (!process.is_on()) return next_freopen(path, mode, stream);
  process.closing(fileno(stream));  // its buffer, if it has one, stays as it is
  if (path != nullptr && *mode == 'w') process.flush(AT_FDCWD, path);
  const Stopwatch watch;
  FILE* const again = next_freopen(path, mode, stream);
  if (again != nullptr && path != nullptr)
    process.opened_stream(fileno(again), path, flags_of(mode), watch.nanoseconds());
  return again;
}

FILE* call_fdopen(int descriptor, const char* mode) asm("fdopen");
FILE* call_fdopen(int descriptor, const char* mode) {
  Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known() || !process.is_on()) return next_fdopen(descriptor, mode);
  process.leave_alone(descriptor);
  known.is_stream = true;
  process.descriptors.set(descriptor, known);
  return next_fdopen(descriptor, mode);
}

int call_fflush(FILE* stream) asm("fflush");
int call_fflush(FILE* stream) {
  const Descriptor known = known_stream(stream);
  if (known.file == 0) return next_fflush(stream);
  const Stopwatch watch;
  const int result = next_fflush(stream);
  process.count(known, CallKind::flush, watch.nanoseconds());
  return result;
}

std::size_t call_fread(void* to, std::size_t size, std::size_t count, FILE* stream) asm("fread");
std::size_t call_fread(void* to, std::size_t size, std::size_t count, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fread(to, size, count, stream); },
      [&](std::size_t items) { return items * size; });
}

std::size_t call_fread_chk(void* to, std::size_t room, std::size_t size, std::size_t count,
                           FILE* stream) asm("__fread_chk");
std::size_t call_fread_chk(void* to, std::size_t room, std::size_t size, std::size_t count,
                           FILE* stream) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __builtin_trap();
  return call_fread(to, size, count, stream);
}

std::size_t call_fwrite(const void* from, std::size_t size, std::size_t count,
                        FILE* stream) asm("fwrite");
std::size_t call_fwrite(const void* from, std::size_t size, std::size_t count, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_fwrite(from, size, count, stream); },
      [&](std::size_t items) { return items * size; });
}

int call_fputs(const char* text, FILE* stream) asm("fputs");
int call_fputs(const char* text, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_fputs(text, stream); },
      [&](int result) { return result < 0 ? 0 : std::strlen(text); });
}

int call_fputc(int character, FILE* stream) asm("fputc");
int call_putc(int character, FILE* stream) asm("putc") __attribute__((alias("fputc")));
int call_fputc(int character, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_fputc(character, stream); },
      [](int result) { return result == EOF ? 0 : 1; });
}

char* call_fgets(char* to, int room, FILE* stream) asm("fgets");
char* call_fgets(char* to, int room, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fgets(to, room, stream); },
      [](const char* line) { return line == nullptr ? 0 : std::strlen(line); });
}

char* call_fgets_chk(char* to, std::size_t size, int room, FILE* stream) asm("__fgets_chk");
char* call_fgets_chk(char* to, std::size_t size, int room, FILE* stream) {
  if (room > 0 && static_cast<std::size_t>(room) > size) __builtin_trap();
  return call_fgets(to, room, stream);
}

int call_fgetc(FILE* stream) asm("fgetc");
int call_getc(FILE* stream) asm("getc") __attribute__((alias("fgetc")));
int call_fgetc(FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fgetc(stream); },
      [](int result) { return result == EOF ? 0 : 1; });
}

ssize_t call_getdelim(char** line, std::size_t* room, int end, FILE* stream) asm("getdelim");
ssize_t call_getdelim_internal(char** line, std::size_t* room, int end,
                               FILE* stream) asm("__getdelim") __attribute__((alias("getdelim")));
ssize_t call_getdelim(char** line, std::size_t* room, int end, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_getdelim(line, room, end, stream); },
      [](ssize_t bytes) { return bytes; });
}

ssize_t call_getline(char** line, std::size_t* room, FILE* stream) asm("getline");
ssize_t call_getline(char** line, std::size_t* room, FILE* stream) {
  return call_getdelim(line, room, '\n', stream);
}

int call_vfprintf(FILE* stream, const char* format, va_list arguments) asm("vfprintf");
int call_vfprintf(FILE* stream, const char* format, va_list arguments) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_vfprintf(stream, format, arguments); },
      [](int bytes) { return bytes; });
}

int call_fprintf(FILE* stream, const char* format, ...) asm("fprintf");
int call_fprintf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int bytes = call_vfprintf(stream, format, arguments);
  va_end(arguments);
  return bytes;
}

int call_vfprintf_chk(FILE* stream, int flag, const char* format,
                      va_list arguments) asm("__vfprintf_chk");
int call_vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  return access_stream(
      stream, AccessKind::stream_write,
      [&] { return next_vfprintf_chk(stream, flag, format, arguments); },
      [](int bytes) { return bytes; });
}

int call_fprintf_chk(FILE* stream, int flag, const char* format, ...) asm("__fprintf_chk");
int call_fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int bytes = call_vfprintf_chk(stream, flag, format, arguments);
  va_end(arguments);
  return bytes;
}

int call_fseeko(FILE* stream, off_t offset, int whence) asm("fseeko");
int call_fseeko64(FILE* stream, off_t offset, int whence) asm("fseeko64")
    __attribute__((alias("fseeko")));
int call_fseek(FILE* stream, long offset, int whence) asm("fseek") __attribute__((alias("fseeko")));
int call_fseeko(FILE* stream, off_t offset, int whence) {
  note_seek(stream);
  const Descriptor known = known_stream(stream);
  if (known.file == 0) return next_fseeko(stream, offset, whence);
  const Stopwatch watch;
  const int result = next_fseeko(stream, offset, whence);
  process.count(known, CallKind::seek, watch.nanoseconds());
  return result;
}

#pragma GCC visibility pop

}  // namespace nacre::posix
