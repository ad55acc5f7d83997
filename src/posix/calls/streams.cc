// Streams of stdio. The C library accesses their files by functions that cannot be interposed: a
// stream is counted by its calls, and is buffered by stdio itself, in a larger buffer. C++ streams
// are opened here too.
#include "posix/calls/streams.h"

#include <atomic>
#include <cstring>

#include <dlfcn.h>
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
constinit Next<int(FILE*, off_t, int)> next_fseeko("fseeko");
constinit Next<void(FILE*)> next_rewind("rewind");
constinit Next<int(FILE*, const fpos_t*)> next_fsetpos("fsetpos");
constinit Next<FILE*()> next_tmpfile("tmpfile");

/// Buffers that streams were given, by descriptor.
struct StreamBuffer {
  std::byte* memory;
  std::size_t bytes;
  int seeks;  ///< of the program
};
/// stdio fills the whole buffer after each seek: after so many, the stream is accessed at random.
constexpr int seeks_max = 8;
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
    setvbuf(stream, reinterpret_cast<char*>(buffer->memory), _IOFBF, usual_stream_bytes);
}

template <class Call>
int seek(FILE* stream, Call call) {
  note_access_by_stdio(stream);
  note_seek(stream);
  const Descriptor known = counted_stream(stream);
  if (known.file == 0) return call();
  const Stopwatch watch;
  const int result = call();
  process.count(known, CallKind::seek, watch.nanoseconds());
  return result;
}

/// The flags of open() that a mode of fopen() stands for.
int flags_of(const char* mode) {
  const bool is_update = std::strchr(mode, '+') != nullptr;
  if (*mode == 'r') return is_update ? O_RDWR : O_RDONLY;
  return (is_update ? O_RDWR : O_WRONLY) | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
}

/// Whether `caller`, which calls fopen(), is in GCC's library of C++ streams. They access the file
/// by its descriptor alone, and only a class derived from std::filebuf can reach the FILE. A
/// program that is linked with the library statically opens ordinary streams, as far as can be seen
/// here.
bool is_cxx_stream(const void* caller) {
  Dl_info found{};
  if (dladdr(caller, &found) == 0 || found.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(found.dli_fname, '/');
  const std::string_view name = slash == nullptr ? found.dli_fname : slash + 1;
  return name.starts_with("libstdc++.so");
}

FILE* opened(FILE* stream, const char* path, const char* mode, const void* caller,
             std::int64_t took) {
  if (stream == nullptr) {
    if (is_of_job(path)) process.files.elsewhere.failed_opens.add(took);
    return stream;
  }
  const ErrnoKeeper keeper;
  if (process.buffering.is_on() && is_cxx_stream(caller)) {
    process.opened_cxx_stream(fileno(stream), path, flags_of(mode), took);
    return stream;
  }
  process.opened_stream(fileno(stream), path, flags_of(mode), took);
  if (process.buffering.is_on()) enlarge_buffer(stream, path);
  return stream;
}

}  // namespace

#pragma GCC visibility push(default)

FILE* call_fopen(const char* path, const char* mode) asm("fopen");
FILE* call_fopen64(const char* path, const char* mode) asm("fopen64")
    __attribute__((alias("fopen")));
FILE* call_fopen(const char* path, const char* mode) {
  const void* const caller = __builtin_return_address(0);
  if (!process.is_on() || process.is_left_out(caller)) return next_fopen(path, mode);
  if (*mode != 'r') process.flush(AT_FDCWD, path);  // truncates it, or looks where it ends
  const Stopwatch watch;
  FILE* const stream = next_fopen(path, mode);
  return opened(stream, path, mode, caller, watch.nanoseconds());
}

int call_fclose(FILE* stream) asm("fclose");
int call_fclose(FILE* stream) {
  if (!process.is_on() || stream == nullptr) return next_fclose(stream);
  const int descriptor = fileno(stream);
  const Descriptor known = process.descriptors.get(descriptor);
  if (!known.is_known()) return next_fclose(stream);
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
  if (known.file != 0 && known.is_stream) process.files.counts(known.file).count_rests();
  return error == 0 ? result : EOF;
}

FILE* call_freopen(const char* path, const char* mode, FILE* stream) asm("freopen");
FILE* call_freopen64(const char* path, const char* mode, FILE* stream) asm("freopen64")
    __attribute__((alias("freopen")));
FILE* call_freopen(const char* path, const char* mode, FILE* stream) {
  if (!process.is_on()) return next_freopen(path, mode, stream);
  process.closing(fileno(stream));  // its buffer, if it has one, stays as it is
  if (path != nullptr && *mode != 'r') process.flush(AT_FDCWD, path);
  const Stopwatch watch;
  FILE* const again = next_freopen(path, mode, stream);
  // Without a path the mode of the stream changes.
  if (again != nullptr)
    process.opened_stream(fileno(again), path == nullptr ? "" : path, flags_of(mode),
                          watch.nanoseconds());
  return again;
}

FILE* call_tmpfile() asm("tmpfile");
FILE* call_tmpfile64() asm("tmpfile64") __attribute__((alias("tmpfile")));
FILE* call_tmpfile() {
  const Stopwatch watch;
  FILE* const stream = next_tmpfile();
  const ErrnoKeeper keeper;
  if (stream != nullptr && process.is_on())
    process.opened_stream(fileno(stream), "", O_CREAT | O_RDWR, watch.nanoseconds());
  return stream;
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
  note_access_by_stdio(stream);
  const Descriptor known = counted_stream(stream);
  if (known.file == 0) return next_fflush(stream);
  const Stopwatch watch;
  const int result = next_fflush(stream);
  process.count(known, CallKind::flush, watch.nanoseconds());
  return result;
}

int call_fseeko(FILE* stream, off_t offset, int whence) asm("fseeko");
int call_fseeko64(FILE* stream, off_t offset, int whence) asm("fseeko64")
    __attribute__((alias("fseeko")));
int call_fseek(FILE* stream, long offset, int whence) asm("fseek") __attribute__((alias("fseeko")));
int call_fseeko(FILE* stream, off_t offset, int whence) {
  return seek(stream, [&] { return next_fseeko(stream, offset, whence); });
}

int call_fsetpos(FILE* stream, const fpos_t* position) asm("fsetpos");
int call_fsetpos64(FILE* stream, const fpos_t* position) asm("fsetpos64")
    __attribute__((alias("fsetpos")));
int call_fsetpos(FILE* stream, const fpos_t* position) {
  return seek(stream, [&] { return next_fsetpos(stream, position); });
}

void call_rewind(FILE* stream) asm("rewind");
void call_rewind(FILE* stream) {
  seek(stream, [&] {
    next_rewind(stream);
    return 0;
  });
}

#pragma GCC visibility pop

}  // namespace nacre::posix
