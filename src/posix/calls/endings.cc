// Calls that end the process, replace its program, begin others, or decide what signals do.
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <span>

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "posix/buffering/fatal_signals.h"
#include "posix/calls/process.h"
#include "posix/system/next.h"

namespace nacre::posix {
namespace {

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

constinit Next<void(int)> next_exit("_exit");
constinit Next<void(int)> next_quick_exit("quick_exit");
constinit Next<pid_t()> next_vfork("vfork");
constinit Next<int(const char*, char* const*)> next_execv("execv");
constinit Next<int(const char*, char* const*)> next_execvp("execvp");
constinit Next<int(const char*, char* const*, char* const*)> next_execve("execve");
constinit Next<int(const char*, char* const*, char* const*)> next_execvpe("execvpe");
constinit Next<int(int, char* const*, char* const*)> next_fexecve("fexecve");
constinit Next<Spawn> next_posix_spawn("posix_spawn");
constinit Next<Spawn> next_posix_spawnp("posix_spawnp");
constinit Next<int(const char*)> next_system("system");
constinit Next<FILE*(const char*, const char*)> next_popen("popen");
constinit Next<int(FILE*)> next_pclose("pclose");
constinit Next<pid_t(int*)> next_wait("wait");
constinit Next<pid_t(pid_t, int*, int)> next_waitpid("waitpid");
constinit Next<int(idtype_t, id_t, siginfo_t*, int)> next_waitid("waitid");
constinit Next<pid_t(int*, int, rusage*)> next_wait3("wait3");
constinit Next<pid_t(pid_t, int*, int, rusage*)> next_wait4("wait4");
constinit Next<pid_t()> next_bare_fork("_Fork");
constinit Next<int(int (*)(void*), void*, int, void*, void*, void*, void*)> next_clone("clone");

/// The number of arguments of execl and its relatives, with the null pointer at their end.
std::size_t count_words(const char* first, va_list rest) {
  std::size_t count = 1;
  for (const char* word = first; word != nullptr; word = va_arg(rest, const char*)) ++count;
  return count;
}

/// Puts them into `words`. Leaves `rest` behind the null pointer.
char* const* collect_words(std::span<char*> words, const char* first, va_list* rest) {
  words.front() = const_cast<char*>(first);
  for (char*& word : words.subspan(1)) word = va_arg(*rest, char*);
  return words.data();
}

/// Another program takes this process over, if `call` succeeds.
template <class Call>
int replace_program(Call call) {
  if (!process.is_on()) return call();
  process.before_exec();
  const int result = call();
  const ErrnoKeeper keeper;
  process.after_failed_exec();
  return result;
}

/// Another process begins, which may look at files of this one.
template <class Call>
auto begin_process(Call call) {
  process.begin_process();
  return call();
}

/// Another process ended, which may have changed files of this one.
template <class Value>
Value after_process(Value result) {
  const ErrnoKeeper keeper;
  if (result >= 0 && process.is_on() && process.buffering.is_on()) process.buffering.forget_all();
  return result;
}

}  // namespace

#pragma GCC visibility push(default)

[[noreturn]] void call_exit(int status) asm("_exit");
[[noreturn]] void call_upper_exit(int status) asm("_Exit") __attribute__((alias("_exit")));
void call_exit(int status) {
  if (process.is_on()) process.end();
  next_exit(status);
  __builtin_unreachable();
}

[[noreturn]] void call_quick_exit(int status) asm("quick_exit");
void call_quick_exit(int status) {
  if (process.is_on()) process.end();
  next_quick_exit(status);
  __builtin_unreachable();
}

int call_execv(const char* path, char* const* arguments) asm("execv");
int call_execv(const char* path, char* const* arguments) {
  return replace_program([&] { return next_execv(path, arguments); });
}

int call_execvp(const char* file, char* const* arguments) asm("execvp");
int call_execvp(const char* file, char* const* arguments) {
  return replace_program([&] { return next_execvp(file, arguments); });
}

int call_execve(const char* path, char* const* arguments, char* const* variables) asm("execve");
int call_execve(const char* path, char* const* arguments, char* const* variables) {
  return replace_program([&] { return next_execve(path, arguments, variables); });
}

int call_execvpe(const char* file, char* const* arguments, char* const* variables) asm("execvpe");
int call_execvpe(const char* file, char* const* arguments, char* const* variables) {
  return replace_program([&] { return next_execvpe(file, arguments, variables); });
}

int call_fexecve(int file, char* const* arguments, char* const* variables) asm("fexecve");
int call_fexecve(int file, char* const* arguments, char* const* variables) {
  return replace_program([&] { return next_fexecve(file, arguments, variables); });
}

int call_execl(const char* path, const char* first, ...) asm("execl");
int call_execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_words(first, rest);
  va_end(rest);
  auto** const words = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  char* const* const arguments = collect_words({words, count}, first, &rest);
  va_end(rest);
  return call_execv(path, arguments);
}

int call_execlp(const char* file, const char* first, ...) asm("execlp");
int call_execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_words(first, rest);
  va_end(rest);
  auto** const words = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  char* const* const arguments = collect_words({words, count}, first, &rest);
  va_end(rest);
  return call_execvp(file, arguments);
}

int call_execle(const char* path, const char* first, ...) asm("execle");
int call_execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_words(first, rest);
  va_end(rest);
  auto** const words = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  char* const* const arguments = collect_words({words, count}, first, &rest);
  char* const* const variables = va_arg(rest, char* const*);
  va_end(rest);
  return call_execve(path, arguments, variables);
}

int call_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments,
                     char* const* variables) asm("posix_spawn");
// NOLINTNEXTLINE(readability-function-size): its parameters are the C library's.
int call_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments,
                     char* const* variables) {
  return begin_process(
      [&] { return next_posix_spawn(child, path, actions, attributes, arguments, variables); });
}

int call_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* arguments,
                      char* const* variables) asm("posix_spawnp");
// NOLINTNEXTLINE(readability-function-size): its parameters are the C library's.
int call_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* arguments,
                      char* const* variables) {
  return begin_process(
      [&] { return next_posix_spawnp(child, file, actions, attributes, arguments, variables); });
}

int call_system(const char* command) asm("system");
int call_system(const char* command) {
  return after_process(begin_process([&] { return next_system(command); }));
}

FILE* call_popen(const char* command, const char* mode) asm("popen");
FILE* call_popen(const char* command, const char* mode) {
  return begin_process([&] { return next_popen(command, mode); });
}

int call_pclose(FILE* stream) asm("pclose");
int call_pclose(FILE* stream) { return after_process(next_pclose(stream)); }

pid_t call_wait(int* status) asm("wait");
pid_t call_wait(int* status) { return after_process(next_wait(status)); }

pid_t call_waitpid(pid_t child, int* status, int options) asm("waitpid");
pid_t call_waitpid(pid_t child, int* status, int options) {
  return after_process(next_waitpid(child, status, options));
}

int call_waitid(idtype_t kind, id_t child, siginfo_t* information, int options) asm("waitid");
int call_waitid(idtype_t kind, id_t child, siginfo_t* information, int options) {
  return after_process(next_waitid(kind, child, information, options));
}

pid_t call_wait3(int* status, int options, rusage* usage) asm("wait3");
pid_t call_wait3(int* status, int options, rusage* usage) {
  return after_process(next_wait3(status, options, usage));
}

pid_t call_wait4(pid_t child, int* status, int options, rusage* usage) asm("wait4");
pid_t call_wait4(pid_t child, int* status, int options, rusage* usage) {
  return after_process(next_wait4(child, status, options, usage));
}

// Not fork(): its handlers are called by daemon() and others too, which do not come here.
pid_t call_bare_fork() asm("_Fork");
pid_t call_bare_fork() {
  if (next_bare_fork.get() != nullptr) return begin_process([] { return next_bare_fork(); });
  errno = ENOSYS;
  return -1;
}

int call_clone(int (*function)(void*), void* stack, int flags, void* argument, ...) asm("clone");
int call_clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
  va_list rest;
  va_start(rest, argument);
  void* const parent = va_arg(rest, void*);
  void* const storage = va_arg(rest, void*);
  void* const child = va_arg(rest, void*);
  va_end(rest);
  const bool is_thread = (flags & CLONE_THREAD) != 0;
  if (process.is_on() && !is_thread) {
    if ((flags & CLONE_VM) != 0) {
      process.before_shared_clone();
    } else {
      process.begin_process();
    }
  }
  return next_clone(function, stack, flags, argument, parent, storage, child);
}

int call_sigaction(int number, const struct sigaction* wanted,
                   struct sigaction* before) asm("sigaction");
int call_sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
  return set_signal_action(number, wanted, before);
}

SignalHandler call_signal(int number, SignalHandler handler) asm("signal");
SignalHandler call_signal(int number, SignalHandler handler) {
  return set_signal_handler(number, handler);
}

#pragma GCC visibility pop

}  // namespace nacre::posix

extern "C" {

/// Called by vfork.S.
void* nacre_posix_before_vfork() {
  using nacre::posix::process;
  process.before_vfork();
  return reinterpret_cast<void*>(nacre::posix::next_vfork.get());
}

/// For libnacre_*.so, which account for their own accesses: calls from [begin, end) are left out.
__attribute__((visibility("default"))) void nacre_posix_leave_out(const void* begin,
                                                                  const void* end) {
  nacre::posix::process.leave_out_calls_from(begin, end);
}

/// For the command line: writes into `text` what is wrong with a value of NACRE_IOBUF. Returns the
/// number of bytes; 0 if it is right.
__attribute__((visibility("default"))) std::size_t nacre_posix_check_rules(const char* rules,
                                                                           char* text,
                                                                           std::size_t room) {
  nacre::posix::Rules parsed;
  if (parsed.parse(rules)) return 0;
  const std::string_view problem = parsed.problem();
  const std::size_t bytes = std::min(problem.size(), room);
  std::memcpy(text, problem.data(), bytes);
  return bytes;
}

}  // extern "C"
