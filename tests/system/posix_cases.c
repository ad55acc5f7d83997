/* Small programs, each of which once saw something else with buffered files than without. Run as
 * `posix_cases CASE` in an empty folder; what it prints must not depend on NACRE_IOBUF. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { report = 100 }; /* standard output as it was: cases may replace it */
static const char* const data = "data.log";

__attribute__((format(printf, 1, 2))) static void say(const char* format, ...) {
  char line[400];
  va_list arguments;
  va_start(arguments, format);
  const int bytes = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (write(report, line, (size_t)bytes) != bytes) _exit(9);
}

static void put(int descriptor, const char* text) {
  if (write(descriptor, text, strlen(text)) < 0) say("write: errno %d\n", errno);
}

static int made(const char* path, const char* text) {
  const int descriptor = open(path, O_CREAT | O_RDWR | O_TRUNC, 0644);
  if (descriptor < 0) _exit(9);
  put(descriptor, text);
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

/* A new file whose descriptor is `wanted`. */
static void made_as(int wanted, const char* path, int flags) {
  const int descriptor = open(path, O_CREAT | O_RDWR | flags, 0644);
  if (descriptor == wanted) return;
  dup2(descriptor, wanted);
  close(descriptor);
}

static void show(const char* path) {
  char bytes[400] = {0};
  const int descriptor = open(path, O_RDONLY);
  const ssize_t got = read(descriptor, bytes, sizeof bytes - 1);
  close(descriptor);
  say("%s: %zd bytes '%s'\n", path, got, bytes);
}

/* Descriptors that close where the library does not look. */

static void fclose_of_duplicate(void) {
  made_as(1, data, 0);
  put(1, "AAAA");
  say("fclose %d\n", fclose(stdout));
  const int other = open("other.log", O_CREAT | O_RDWR, 0644);
  put(other, "b");
  close(other);
  show(data);
  show("other.log");
}

static void freopen_of_duplicate(void) {
  made_as(1, data, 0);
  put(1, "AAAA");
  if (freopen("other.log", "w", stdout) == NULL) say("freopen\n");
  printf("b");
  fclose(stdout);
  show(data);
  show("other.log");
}

static void after_unshare(int by_close_range) {
  const int descriptor = made(data, "AAAA");
  if (by_close_range) {
    say("close_range %d\n", close_range((unsigned)descriptor, (unsigned)descriptor, 2 /* CLOSE_RANGE_UNSHARE */));
  } else {
    say("unshare %d\n", unshare(CLONE_FILES));
    close(descriptor);
  }
  const int other = open("other.log", O_CREAT | O_RDWR, 0644);
  put(other, "b");
  close(other);
  show(data);
  show("other.log");
}

static void close_range_unshare(void) { after_unshare(1); }
static void unshare_files(void) { after_unshare(0); }

/* Another end of the pipe than the program's would keep its reader waiting. */
static void pipe_after_unshare(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) _exit(9);
  const int descriptor = made(data, "AAAA");
  unshare(CLONE_FILES);
  close(ends[1]);
  say("read %zd\n", read(ends[0], &byte, 1));
  close(descriptor);
}

static void failed_dup2(void) {
  const int descriptor = open(data, O_CREAT | O_WRONLY, 0644);
  put(descriptor, "AA");
  say("dup2 %d\n", dup2(-1, descriptor));
  put(descriptor, "BB");
  say("close %d\n", close(descriptor));
  show(data);
}

/* Signals. */

static void ended_by(void (*end)(int), int argument) {
  const int descriptor = made(data, "");
  const pid_t child = fork();
  if (child == 0) {
    const int own = open(data, O_WRONLY);
    put(own, "AAAA");
    end(argument);
    say("survived\n");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say("status %d\n", status);
  close(descriptor);
  show(data);
}

static void end_by_raise(int number) { raise(number); }

static void end_by_alarm(int ignored) {
  (void)ignored;
  alarm(1);
  for (int i = 0; i < 30; ++i) usleep(100000);
}

static void end_by_timer(int ignored) {
  (void)ignored;
  const struct itimerval limit = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_PROF, &limit, NULL);
  for (const time_t begin = time(NULL); time(NULL) < begin + 10;) continue;
}

static void end_by_cpu_limit(int ignored) {
  (void)ignored;
  const struct rlimit limit = {1, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  for (const time_t begin = time(NULL); time(NULL) < begin + 10;) continue;
}

static void signal_alarm(void) { ended_by(end_by_alarm, 0); }
static void signal_timer(void) { ended_by(end_by_timer, 0); }
static void signal_cpu_limit(void) { ended_by(end_by_cpu_limit, 0); }

static void signal_others(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int numbers[] = {SIGTRAP, SIGIO, SIGSTKFLT, SIGPWR, SIGSEGV, SIGSYS, SIGRTMIN, SIGRTMAX};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) ended_by(end_by_raise, numbers[i]);
}

static void do_nothing(int number) { (void)number; }

static void interrupted_read(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) _exit(9);
  siginterrupt(SIGALRM, 1);
  say("before: default %d\n", signal(SIGALRM, do_nothing) == SIG_DFL);
  alarm(1);
  const ssize_t got = read(ends[0], &byte, 1);
  say("read %zd errno %d\n", got, errno);
  say("before: ours %d\n", signal(SIGALRM, SIG_DFL) == do_nothing);
  say("before: default %d\n", signal(SIGALRM, SIG_IGN) == SIG_DFL);
  say("before: ignored %d\n", signal(SIGALRM, SIG_DFL) == SIG_IGN);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"fclose_of_duplicate", fclose_of_duplicate},
    {"freopen_of_duplicate", freopen_of_duplicate},
    {"close_range_unshare", close_range_unshare},
    {"unshare_files", unshare_files},
    {"pipe_after_unshare", pipe_after_unshare},
    {"failed_dup2", failed_dup2},
    {"signal_alarm", signal_alarm},
    {"signal_timer", signal_timer},
    {"signal_cpu_limit", signal_cpu_limit},
    {"signal_others", signal_others},
    {"interrupted_read", interrupted_read},
};

int main(int count, char** arguments) {
  dup2(1, report);
  for (size_t i = 0; count > 1 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(arguments[1], cases[i].name) != 0) continue;
    cases[i].run();
    fflush(NULL);
    _exit(0);
  }
  return 2;
}
