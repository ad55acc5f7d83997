// Calls that read and write streams of stdio.
#include <cstdarg>
#include <cstring>
#include <cwchar>

#include <stdio.h>

#include "posix/calls/process.h"
#include "posix/calls/streams.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

constinit Next<std::size_t(void*, std::size_t, std::size_t, FILE*)> next_fread("fread");
constinit Next<std::size_t(const void*, std::size_t, std::size_t, FILE*)> next_fwrite("fwrite");
constinit Next<int(const char*, FILE*)> next_fputs("fputs");
constinit Next<int(int, FILE*)> next_fputc("fputc");
constinit Next<char*(char*, int, FILE*)> next_fgets("fgets");
constinit Next<int(FILE*)> next_fgetc("fgetc");
constinit Next<ssize_t(char**, std::size_t*, int, FILE*)> next_getdelim("getdelim");
constinit Next<int(FILE*, const char*, va_list)> next_vfprintf("vfprintf");
constinit Next<int(FILE*, int, const char*, va_list)> next_vfprintf_chk("__vfprintf_chk");
constinit Next<std::size_t(void*, std::size_t, std::size_t, FILE*)> next_fread_unlocked(
    "fread_unlocked");
constinit Next<std::size_t(const void*, std::size_t, std::size_t, FILE*)> next_fwrite_unlocked(
    "fwrite_unlocked");
constinit Next<int(const char*, FILE*)> next_fputs_unlocked("fputs_unlocked");
constinit Next<char*(char*, int, FILE*)> next_fgets_unlocked("fgets_unlocked");
constinit Next<int(int, FILE*)> next_fputc_unlocked("fputc_unlocked");
constinit Next<int(FILE*)> next_fgetc_unlocked("fgetc_unlocked");
constinit Next<int(int, FILE*)> next_ungetc("ungetc");
constinit Next<int(FILE*, const char*, va_list)> next_vfscanf("vfscanf");
constinit Next<int(FILE*, const char*, va_list)> next_c99_vfscanf("__isoc99_vfscanf");
constinit Next<wint_t(FILE*)> next_fgetwc("fgetwc");
constinit Next<wint_t(wchar_t, FILE*)> next_fputwc("fputwc");
constinit Next<wchar_t*(wchar_t*, int, FILE*)> next_fgetws("fgetws");
constinit Next<int(const wchar_t*, FILE*)> next_fputws("fputws");

template <class Call>
int put_character(FILE* stream, Call call) {
  return access_character<int>(stream, AccessKind::stream_write, call,
                               [](int result) { return result == EOF ? 0 : 1; });
}

template <class Call>
int get_character(FILE* stream, Call call) {
  return access_character<int>(stream, AccessKind::stream_read, call,
                               [](int result) { return result == EOF ? 0 : 1; });
}

template <class Call>
int scan(FILE* stream, Call call) {
  note_access_by_stdio(stream);
  if (counted_stream(stream).file == 0) return call();
  const off_t before = ftello(stream);
  return access_stream(stream, AccessKind::stream_read, call,
                       [&](int /*found*/) { return ftello(stream) - before; });
}

std::size_t bytes_of_text(const wchar_t* text) {
  std::mbstate_t state{};
  const std::size_t bytes = std::wcsrtombs(nullptr, &text, 0, &state);
  return bytes == static_cast<std::size_t>(-1) ? 0 : bytes;
}

std::size_t bytes_of_character(wint_t character) {
  if (character == WEOF) return 0;
  const wchar_t text[2] = {static_cast<wchar_t>(character), 0};
  return std::max<std::size_t>(bytes_of_text(text), 1);
}

}  // namespace

#pragma GCC visibility push(default)

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
  return put_character(stream, [&] { return next_fputc(character, stream); });
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
  return get_character(stream, [&] { return next_fgetc(stream); });
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

// The same without the stream's lock.

std::size_t call_fread_unlocked(void* to, std::size_t size, std::size_t count,
                                FILE* stream) asm("fread_unlocked");
std::size_t call_fread_unlocked(void* to, std::size_t size, std::size_t count, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fread_unlocked(to, size, count, stream); },
      [&](std::size_t items) { return items * size; });
}

std::size_t call_fwrite_unlocked(const void* from, std::size_t size, std::size_t count,
                                 FILE* stream) asm("fwrite_unlocked");
std::size_t call_fwrite_unlocked(const void* from, std::size_t size, std::size_t count,
                                 FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write,
      [&] { return next_fwrite_unlocked(from, size, count, stream); },
      [&](std::size_t items) { return items * size; });
}

int call_fputs_unlocked(const char* text, FILE* stream) asm("fputs_unlocked");
int call_fputs_unlocked(const char* text, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_fputs_unlocked(text, stream); },
      [&](int result) { return result < 0 ? 0 : std::strlen(text); });
}

char* call_fgets_unlocked(char* to, int room, FILE* stream) asm("fgets_unlocked");
char* call_fgets_unlocked(char* to, int room, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fgets_unlocked(to, room, stream); },
      [](const char* line) { return line == nullptr ? 0 : std::strlen(line); });
}

int call_fputc_unlocked(int character, FILE* stream) asm("fputc_unlocked");
int call_fputc_unlocked(int character, FILE* stream) {
  return put_character(stream, [&] { return next_fputc_unlocked(character, stream); });
}

int call_putc_unlocked(int character, FILE* stream) asm("putc_unlocked");
int call_putc_unlocked(int character, FILE* stream) {
  return call_fputc_unlocked(character, stream);
}

int call_fgetc_unlocked(FILE* stream) asm("fgetc_unlocked");
int call_fgetc_unlocked(FILE* stream) {
  return get_character(stream, [&] { return next_fgetc_unlocked(stream); });
}

int call_getc_unlocked(FILE* stream) asm("getc_unlocked");
int call_getc_unlocked(FILE* stream) { return call_fgetc_unlocked(stream); }

/// The byte is read a second time, from memory.
int call_ungetc(int character, FILE* stream) asm("ungetc");
int call_ungetc(int character, FILE* stream) {
  const int result = next_ungetc(character, stream);
  const Descriptor known = counted_stream(stream);
  if (result != EOF && known.file != 0)
    process.files.counts(known.file)[AccessKind::stream_read].bytes.add(-1);
  return result;
}

// Scans return how many values they found: the stream's position says how many bytes.

int call_vfscanf(FILE* stream, const char* format, va_list arguments) asm("vfscanf");
int call_vfscanf(FILE* stream, const char* format, va_list arguments) {
  return scan(stream, [&] { return next_vfscanf(stream, format, arguments); });
}

int call_fscanf(FILE* stream, const char* format, ...) asm("fscanf");
int call_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int found = call_vfscanf(stream, format, arguments);
  va_end(arguments);
  return found;
}

int call_c99_vfscanf(FILE* stream, const char* format, va_list arguments) asm("__isoc99_vfscanf");
int call_c99_vfscanf(FILE* stream, const char* format, va_list arguments) {
  return scan(stream, [&] { return next_c99_vfscanf(stream, format, arguments); });
}

int call_c99_fscanf(FILE* stream, const char* format, ...) asm("__isoc99_fscanf");
int call_c99_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int found = call_c99_vfscanf(stream, format, arguments);
  va_end(arguments);
  return found;
}

// Wide characters: in the file they are as many bytes as the locale says.

wint_t call_fgetwc(FILE* stream) asm("fgetwc");
wint_t call_getwc(FILE* stream) asm("getwc") __attribute__((alias("fgetwc")));
wint_t call_fgetwc(FILE* stream) {
  return access_character<wint_t>(
      stream, AccessKind::stream_read, [&] { return next_fgetwc(stream); }, bytes_of_character);
}

wint_t call_fputwc(wchar_t character, FILE* stream) asm("fputwc");
wint_t call_putwc(wchar_t character, FILE* stream) asm("putwc") __attribute__((alias("fputwc")));
wint_t call_fputwc(wchar_t character, FILE* stream) {
  return access_character<wint_t>(
      stream, AccessKind::stream_write, [&] { return next_fputwc(character, stream); },
      bytes_of_character);
}

wchar_t* call_fgetws(wchar_t* to, int room, FILE* stream) asm("fgetws");
wchar_t* call_fgetws(wchar_t* to, int room, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_read, [&] { return next_fgetws(to, room, stream); },
      [](const wchar_t* line) { return line == nullptr ? 0 : bytes_of_text(line); });
}

int call_fputws(const wchar_t* text, FILE* stream) asm("fputws");
int call_fputws(const wchar_t* text, FILE* stream) {
  return access_stream(
      stream, AccessKind::stream_write, [&] { return next_fputws(text, stream); },
      [&](int result) { return result < 0 ? 0 : bytes_of_text(text); });
}

#pragma GCC visibility pop

}  // namespace nacre::posix
