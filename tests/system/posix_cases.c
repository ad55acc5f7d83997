/* Small programs, each of which once saw something else with buffered files than without. Run as
 * `posix_cases CASE` in an empty folder; what it prints must not depend on NACRE_IOBUF. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>

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
    say("close_range %d\n",
        close_range((unsigned)descriptor, (unsigned)descriptor, 2 /* CLOSE_RANGE_UNSHARE */));
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

static void closed_unseen(void) {
  const int descriptor = made(data, "AAAA");
  syscall(SYS_close, descriptor);
  const int other = (int)syscall(SYS_openat, AT_FDCWD, "other.log", O_CREAT | O_RDWR, 0644);
  say("same %d\n", other == descriptor);
  fsync(other);
  usleep(10000);
  show("other.log");
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

static void signal_alarm(void) { ended_by(end_by_alarm, 0); }
static void signal_timer(void) { ended_by(end_by_timer, 0); }

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

static void exit_with_three(int number) {
  (void)number;
  _exit(3);
}

static void exit_on_small_stack(void) {
  enum { guard = 1 << 19, room = 8192 };
  char* const memory =
      mmap(NULL, guard + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, guard, PROT_NONE);
  const stack_t stack = {.ss_sp = memory + guard, .ss_size = room};
  sigaltstack(&stack, NULL);
  const struct sigaction action = {.sa_handler = exit_with_three, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  put(open(data, O_CREAT | O_WRONLY, 0644), "A");
  say("begun\n");
  raise(SIGUSR1);
}

static void exec_words(void) {
  char* const variables[] = {"A=1", NULL};
  const pid_t child = fork();
  if (child == 0) {
    dup2(report, 1);
    execle("/bin/sh", "sh", "-c", "echo $A $0 $#", "zero", "one", "two", NULL, variables);
  }
  waitpid(child, NULL, 0);
  put(open(data, O_CREAT | O_WRONLY, 0644), "A");
  dup2(report, 1);
  execlp("cat", "cat", data, NULL);
}

/* Forks. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int logged = -1;

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) {
  if (logged >= 0) put(logged, "forked\n");
  pthread_mutex_unlock(&mutex);
}

/* Before the constructors of libraries: so these handlers run between the library's and the fork.
 */
static void add_handlers(void) { pthread_atfork(before_fork, after_fork, after_fork); }
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = add_handlers;

static volatile int is_over;

static void* write_under_mutex(void* unused) {
  while (!is_over) {
    pthread_mutex_lock(&mutex);
    put(logged, "line\n");
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void fork_and_wait(int times) {
  for (int i = 0; i < times; ++i) {
    const pid_t child = fork();
    struct stat status;
    if (child == 0) _exit(stat(data, &status));
    int result = -1;
    if (waitpid(child, &result, 0) != child || result != 0) say("child: status %d\n", result);
  }
}

static void fork_with_handlers(void) {
  pthread_t thread;
  logged = open(data, O_CREAT | O_WRONLY | O_APPEND, 0644);
  pthread_create(&thread, NULL, write_under_mutex, NULL);
  fork_and_wait(100);
  is_over = 1;
  pthread_join(thread, NULL);
  say("forked\n");
}

static void* stat_again_and_again(void* unused) {
  struct stat status;
  while (!is_over) {
    stat(data, &status);
    close(open(data, O_RDONLY));
  }
  return unused;
}

static void fork_while_counting(void) {
  pthread_t thread;
  made(data, "text");
  pthread_create(&thread, NULL, stat_again_and_again, NULL);
  fork_and_wait(300);
  is_over = 1;
  pthread_join(thread, NULL);
  say("forked\n");
}

static void child_writes_what_parent_reads(void) {
  char bytes[20] = {0};
  int ends[2];
  const int descriptor = made(data, "0123456789");
  if (pipe(ends) != 0) _exit(9);
  const pid_t child = fork();
  if (child == 0) {
    (void)!read(ends[0], bytes, 1);
    pwrite(descriptor, "XX", 2, 2);
    _exit(0);
  }
  pread(descriptor, bytes, 2, 0);
  put(ends[1], "k");
  waitpid(child, NULL, 0);
  pread(descriptor, bytes, 8, 2);
  say("%s\n", bytes);
}

static void command_writes_what_program_reads(void) {
  char bytes[20] = {0};
  const int descriptor = made(data, "0123456789");
  (void)!read(descriptor, bytes, 2);
  say("system %d\n", system("printf XX | dd of=data.log conv=notrunc bs=1 seek=2 2>/dev/null"));
  (void)!read(descriptor, bytes, 8);
  say("%s\n", bytes);
}

static void bare_fork(void) {
  const int descriptor = made(data, "AAAA");
  lseek(descriptor, 0, SEEK_END);
  put(descriptor, "BB");
  const pid_t child = _Fork();
  if (child == 0) {
    put(descriptor, "CC");
    _exit(0);
  }
  waitpid(child, NULL, 0);
  put(descriptor, "DD");
  close(descriptor);
  show(data);
}

/* Arguments that the system refuses, and the ends of its ranges. */

static void addresses(void) {
  char bytes[20] = {0};
  char* volatile bad = (char*)16;
  const int descriptor = made(data, "0123456789");
  struct iovec parts[2000];
  for (int i = 0; i < 2000; ++i) parts[i] = (struct iovec){bytes, 1};
  say("read %zd ", read(descriptor, bad, 5));
  say("errno %d\n", errno);
  say("write %zd ", write(descriptor, bad, 5));
  say("errno %d\n", errno);
  say("writev of 2000 %zd ", writev(descriptor, parts, 2000));
  say("errno %d\n", errno);
  say("writev of bad parts %zd ", writev(descriptor, (struct iovec*)bad, 2));
  say("errno %d\n", errno);
  const char* volatile none = NULL;
  say("open %d %d fopen %d\n", open(none, O_RDONLY), open(bad, O_RDONLY), fopen(none, "r") != NULL);
  struct stat status;
  say("stat %d %d\n", stat(bad, &status), access(bad, F_OK));
  char* const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'p', 8192);
  mprotect(pages + 4096, 4096, PROT_NONE);
  say("half %zd\n", pwrite(descriptor, pages + 4000, 200, 0));
  mprotect(pages, 8192, PROT_READ);
  say("read-only %zd\n", pread(descriptor, pages, 4, 0));
  close(descriptor);
  show(data);
}

static void huge_offsets(void) {
  const int descriptor = made(data, "");
  say("pwrite %zd\n", pwrite(descriptor, "aaaaaaaa", 8, INT64_MAX - 3));
  char byte;
  say("pread %zd\n", pread(descriptor, &byte, 1, INT64_MAX - 1));
  say("pwrite %zd\n", pwrite(descriptor, "a", 1, 0));
  close(descriptor);
  show(data);
}

static void wrong_direction(void) {
  char byte;
  close(made(data, "0123456789"));
  const int reads = open(data, O_RDONLY);
  const int writes = open(data, O_WRONLY);
  say("write %zd ", write(reads, "XX", 2));
  say("errno %d\n", errno);
  say("pwrite %zd\n", pwrite(reads, "XX", 2, 2));
  put(writes, "ab");
  say("read %zd ", read(writes, &byte, 1));
  say("errno %d\n", errno);
  close(reads);
  close(writes);
  show(data);
}

static int racing;

static void* write_to_racing(void* unused) {
  char bytes[10] = {0};
  for (int i = 0; i < 100000; ++i) (void)!pwrite(racing, bytes, sizeof bytes, 0);
  return unused;
}

static void close_while_writing(void) {
  pthread_t thread;
  racing = made(data, "");
  pthread_create(&thread, NULL, write_to_racing, NULL);
  for (int i = 0; i < 5000; ++i) {
    close(racing);
    racing = open(data, O_RDWR);
  }
  pthread_join(thread, NULL);
  say("survived\n");
}

/* Threads. */

enum { area = 1 << 20 };

static void* read_area(void* which) {
  char bytes[1000];
  long shorts = 0;
  const off_t begin = (off_t)(intptr_t)which * area;
  const int descriptor = racing;
  for (int pass = 0; pass < 5; ++pass) {
    for (off_t at = begin; at + 1000 <= begin + area; at += 1000)
      shorts += pread(descriptor, bytes, 1000, at) != 1000;
  }
  return (void*)shorts;
}

static void short_reads(void) {
  pthread_t threads[4];
  long shorts = 0;
  close(made(data, ""));
  (void)!truncate(data, 4 * area);
  racing = open(data, O_RDONLY);
  for (intptr_t i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, read_area, (void*)i);
  for (int i = 0; i < 4; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    shorts += (long)result;
  }
  say("%ld short reads\n", shorts);
}

static void* read_records(void* sum) {
  unsigned number;
  while (read(racing, &number, sizeof number) == sizeof number)
    __atomic_fetch_add((long*)sum, number, __ATOMIC_RELAXED);
  return NULL;
}

static void shared_position(void) {
  enum { count = 200000 };
  static unsigned numbers[count];
  pthread_t threads[4];
  long sum = 0;
  for (unsigned i = 0; i < count; ++i) numbers[i] = i;
  racing = made(data, "");
  (void)!write(racing, numbers, sizeof numbers);
  lseek(racing, 0, SEEK_SET);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, read_records, &sum);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  say("sum %ld\n", sum);
}

static void* write_without_end(void* unused) {
  static char bytes[1000];
  while (!is_over) {
    for (int i = 0; i < 20000 && !is_over; ++i)
      (void)!pwrite(racing, bytes, sizeof bytes, 1000L * i);
  }
  return unused;
}

enum { generations = 200 };
static unsigned char generation;

static void* write_generations(void* unused) {
  static unsigned char bytes[area];
  for (int i = 1; i <= generations; ++i) {
    memset(bytes, i, sizeof bytes);
    const size_t at_once = i % 2 == 0 ? sizeof bytes : 4096;
    for (size_t at = 0; at < sizeof bytes; at += at_once)
      (void)!pwrite(racing, bytes + at, at_once, (off_t)at);
    __atomic_store_n(&generation, (unsigned char)i, __ATOMIC_RELEASE);
  }
  return unused;
}

static void reads_beside_large_writes(void) {
  pthread_t thread;
  unsigned char bytes[1000];
  long old = 0;
  racing = made(data, "");
  (void)!ftruncate(racing, area);
  pthread_create(&thread, NULL, write_generations, NULL);
  while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) < generations) {
    for (off_t at = 0; at + 1000 <= area; at += 1000) {
      const unsigned char least = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
      old += pread(racing, bytes, sizeof bytes, at) == sizeof bytes && bytes[0] < least;
    }
  }
  pthread_join(thread, NULL);
  say("%ld old reads\n", old);
}

static volatile int is_slow;

/* The library's system calls, on a slow file system. Exported: the program is linked with
 * -rdynamic. */
long syscall(long number, ...) {
  static long (*volatile next)(long, ...);
  long words[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; ++i) words[i] = va_arg(arguments, long);
  va_end(arguments);
  if (next == NULL) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  if (is_slow && number == SYS_pwrite64) usleep(3000);
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static void starved_stat(void) {
  pthread_t thread;
  is_slow = 1;
  racing = made(data, "");
  pthread_create(&thread, NULL, write_without_end, NULL);
  usleep(200000);
  const time_t begin = time(NULL);
  struct stat status;
  for (int i = 0; i < 20; ++i) fstat(racing, &status);
  say("in time %d\n", time(NULL) - begin < 10);
  is_over = 1;
  pthread_join(thread, NULL);
}

/* The same file by a name or descriptor that the library does not buffer. */

static void stream_then_open(void) {
  char line[20];
  close(made(data, ""));
  FILE* const stream = fopen(data, "r");
  const int descriptor = open(data, O_WRONLY);
  put(descriptor, "hello");
  say("%s\n", fgets(line, sizeof line, stream) == NULL ? "end of file" : line);
}

static void map_then_open(void) {
  int descriptor = made(data, "0000");
  const char* const mapped = mmap(NULL, 4, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  descriptor = open(data, O_RDWR);
  put(descriptor, "X");
  say("%.4s\n", mapped);
}

static void other_names(void) {
  char bytes[20] = {0};
  char path[40];
  const int descriptor = made(data, "");
  put(descriptor, "AAAA");
  if (link(data, "linked") != 0) _exit(9);
  say("linked: %zd\n", read(open("linked", O_RDONLY), bytes, 10));
  put(descriptor, "BBBB");
  rename(data, "renamed");
  say("renamed: %zd\n", read(open("renamed", O_RDONLY), bytes, 10));
  const int second = made("second.log", "CCCC");
  snprintf(path, sizeof path, "/proc/self/fd/%d", second);
  say("by descriptor: %zd\n", read(open(path, O_RDONLY), bytes, 10));
}

static void opened_by_other_name_first(void) {
  char bytes[20] = {0};
  close(made("other", ""));
  if (link("other", data) != 0) _exit(9);
  const int other = open("other", O_RDONLY);
  const int descriptor = open(data, O_WRONLY);
  put(descriptor, "AAAA");
  say("%zd\n", read(other, bytes, 10));
}

static void truncated_by_freopen(void) {
  struct stat status;
  const int descriptor = made(data, "AAAA");
  FILE* const stream = fopen("other", "w");
  if (freopen(data, "w", stream) == NULL) _exit(9);
  stat(data, &status);
  say("%ld bytes\n", (long)status.st_size);
  close(descriptor);
  show(data);
}

static void reopened_in_place(void) {
  char bytes[20] = {0};
  close(made(data, "0123456789"));
  FILE* const stream = fopen(data, "w");
  if (freopen(NULL, "r", stream) == NULL) _exit(9);
  const int descriptor = open(data, O_WRONLY);
  put(descriptor, "AAAA");
  say("%zd\n", fread(bytes, 1, 8, stream));
}

static void truncated_by_path(void) {
  char bytes[20] = {0};
  const int descriptor = made(data, "0123456789");
  (void)!read(descriptor, bytes, 2);
  (void)!truncate(data, 4);
  say("%zd\n", read(descriptor, bytes, 8));
  close(descriptor);
}

static void bytes_left_to_read(void) {
  int left = 0;
  const int descriptor = made(data, "");
  const int other = open(data, O_RDONLY);
  put(descriptor, "AAAA");
  ioctl(other, FIONREAD, &left);
  say("%d bytes\n", left);
}

static void stream_begins_at_end(void) {
  const int descriptor = made(data, "");
  put(descriptor, "AAAA");
  say("begins at %ld\n", ftell(fopen(data, "a")));
  put(descriptor, "BBBB");
  say("begins at %ld\n", ftell(freopen(data, "a", fopen("other", "w"))));
}

static void append_beside_streams(void) {
  close(made(data, ""));
  made_as(1, data, O_APPEND);
  put(1, "A");
  printf("B");
  fflush(stdout);
  put(1, "C");
  made_as(2, data, O_APPEND);
  put(2, "D");
  fprintf(stderr, "E");
  put(2, "F");
  show(data);
}

static void kernel_files(void) {
  char before[1000] = {0};
  char after[1000] = {0};
  const int descriptor = open("/proc/self/stat", O_RDONLY);
  (void)!read(descriptor, before, sizeof before - 1);
  for (const clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 20;) continue;
  lseek(descriptor, 0, SEEK_SET);
  (void)!read(descriptor, after, sizeof after - 1);
  say("changed %d\n", strcmp(before, after) != 0);
}

static void no_memory(void) {
  const struct rlimit limit = {300 << 20, 300 << 20};
  close(made(data, ""));
  setrlimit(RLIMIT_AS, &limit);
  const int descriptor = open(data, O_WRONLY);
  put(descriptor, "AAAA");
  say("close %d\n", close(descriptor));
  show(data);
}

static void temporary_by_two_descriptors(void) {
  char path[] = "XXXXXX.log";
  char bytes[20] = {0};
  const int first = mkstemps(path, 4);
  const int second = open(path, O_WRONLY);
  put(second, "AAAA");
  say("%zd\n", pread(first, bytes, 10, 0));
}

static void dprintf_between_calls(void) {
  char bytes[20] = {0};
  const int descriptor = made(data, "0123456789");
  (void)!read(descriptor, bytes, 2);
  dprintf(descriptor, "X%s", "Y");
  lseek(descriptor, 0, SEEK_SET);
  (void)!read(descriptor, bytes, 10);
  say("%s\n", bytes);
  const int appends = open(data, O_WRONLY | O_APPEND);
  put(appends, "A");
  dprintf(appends, "B");
  put(appends, "C");
  close(appends);
  show(data);
}

/* What remains of times and mode when the file is closed. */

static void after_attribute(int which) {
  const struct timespec times[2] = {{1000, 0}, {1000, 0}};
  const struct timeval old_times[2] = {{2000, 0}, {2000, 0}};
  const struct utimbuf oldest = {3000, 3000};
  const int descriptor = open(data, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  put(descriptor, "AAAA");
  int result = -1;
  switch (which) {
    case 0:
      result = futimens(descriptor, times);
      break;
    case 1:
      result = utimensat(AT_FDCWD, data, times, 0);
      break;
    case 2:
      result = futimes(descriptor, old_times);
      break;
    case 3:
      result = utimes(data, old_times);
      break;
    case 4:
      result = utime(data, &oldest);
      break;
    case 5:
      result = fchmod(descriptor, 04755);
      break;
    case 6:
      result = chmod(data, 04711);
      break;
    case 7:
      result = fsetxattr(descriptor, "user.note", "a", 1, 0) + futimens(descriptor, times);
      break;
    default:
      result = fchown(descriptor, getuid(), getgid()) + chmod(data, 02755);
  }
  close(descriptor);
  struct stat status;
  stat(data, &status);
  say("%d: %d, mode %o, time %ld\n", which, result, status.st_mode,
      status.st_mtime < 10000 ? (long)status.st_mtime : -1);
}

static void attributes(void) {
  for (int which = 0; which < 9; ++which) after_attribute(which);
}

static void* write_for_ever(void* unused) {
  char bytes[10] = {0};
  while (1) (void)!pwrite(racing, bytes, sizeof bytes, 0);
  return unused;
}

static void cancelled_write(void) {
  pthread_t thread;
  void* result = NULL;
  racing = made(data, "");
  pthread_create(&thread, NULL, write_for_ever, NULL);
  usleep(50000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  say("cancelled %d\n", result == PTHREAD_CANCELED);
}

static long read_by_the_process(void) {
  char text[400] = {0};
  const int descriptor = open("/proc/self/io", O_RDONLY);
  (void)!read(descriptor, text, sizeof text - 1);
  close(descriptor);
  return strtol(text + strlen("rchar: "), NULL, 10);
}

static void stream_seeks(void) {
  char bytes[8];
  long sum = 0;
  const int descriptor = made(data, "");
  (void)!ftruncate(descriptor, 64 << 20);
  pwrite(descriptor, "text", 4, 40 << 20);
  close(descriptor);
  FILE* const stream = fopen(data, "r+");
  srandom(1);
  for (int i = 0; i < 300; ++i) {
    fseek(stream, random() % (64 << 20), SEEK_SET);
    sum += (long)fread(bytes, 1, 4, stream);
  }
  fseek(stream, 40 << 20, SEEK_SET);
  say("%ld %zu %.4s\n", sum, fread(bytes, 1, 4, stream), bytes);
  fseek(stream, 0, SEEK_CUR);
  fputs("more", stream);
  fseek(stream, -8, SEEK_CUR);
  say("%zu %.8s\n", fread(bytes, 1, 8, stream), bytes);
  say("little read: %d\n", read_by_the_process() < 20 << 20);
  fclose(stream);
}

static void lock_in_another_file(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) _exit(9);
  close(made("lock", ""));
  const pid_t child = fork();
  if (child == 0) {
    const int lock = open("lock", O_RDWR);
    const int descriptor = open(data, O_CREAT | O_WRONLY | O_APPEND, 0644);
    flock(lock, LOCK_EX);
    put(descriptor, "AAAA");
    flock(lock, LOCK_UN);
    put(ends[1], "k");
    usleep(700000);
    _exit(0);
  }
  (void)!read(ends[0], &byte, 1);
  struct stat status;
  const int lock = open("lock", O_RDWR);
  flock(lock, LOCK_EX);
  stat(data, &status);
  say("%ld bytes\n", (long)status.st_size);
  waitpid(child, NULL, 0);
}

/* Calls that count. Some are inlined unless they are called by address. */

static void all_calls_of_streams(void) {
  int (*volatile put_unlocked)(int, FILE*) = fputc_unlocked;
  int (*volatile get_unlocked)(FILE*) = fgetc_unlocked;
  size_t (*volatile write_unlocked)(const void*, size_t, size_t, FILE*) = fwrite_unlocked;
  size_t (*volatile read_unlocked)(void*, size_t, size_t, FILE*) = fread_unlocked;
  char bytes[20];
  int number;
  wchar_t wide[20];
  FILE* stream = fopen("text", "w+");
  write_unlocked("12 34\n", 1, 6, stream);
  fputs_unlocked("56\n", stream);
  put_unlocked('x', stream);
  rewind(stream);
  if (fscanf(stream, "%d", &number) != 1 || number != 12) _exit(9);
  fgets_unlocked(bytes, sizeof bytes, stream);
  ungetc(get_unlocked(stream), stream);
  if (read_unlocked(bytes, 1, 4, stream) != 4) _exit(9);
  fclose(stream);
  stream = fopen("wide", "w+");
  fputwc(L'a', stream);
  fputws(L"bcd\n", stream);
  rewind(stream);
  fgetwc(stream);
  fgetws(wide, 20, stream);
  fclose(stream);
  char path[] = "XXXXXX";
  const int descriptor = mkstemp(path);
  rename(path, "temporary");
  dprintf(descriptor, "%d", 123);
  close(descriptor);
  stream = fopen("unclosed", "w");
  fputs("unclosed", stream);
  exit(0);
}

static void reused_inodes(void) {
  for (int i = 0; i < 20; ++i) {
    char path[20];
    snprintf(path, sizeof path, "temporary.%d", i);
    const int descriptor = open(path, O_CREAT | O_WRONLY, 0644);
    put(descriptor, "x");
    close(descriptor);
    unlink(path);
  }
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
    {"closed_unseen", closed_unseen},
    {"failed_dup2", failed_dup2},
    {"signal_alarm", signal_alarm},
    {"signal_timer", signal_timer},
    {"signal_others", signal_others},
    {"interrupted_read", interrupted_read},
    {"exec_words", exec_words},
    {"exit_on_small_stack", exit_on_small_stack},
    {"fork_with_handlers", fork_with_handlers},
    {"fork_while_counting", fork_while_counting},
    {"child_writes_what_parent_reads", child_writes_what_parent_reads},
    {"command_writes_what_program_reads", command_writes_what_program_reads},
    {"bare_fork", bare_fork},
    {"addresses", addresses},
    {"huge_offsets", huge_offsets},
    {"wrong_direction", wrong_direction},
    {"close_while_writing", close_while_writing},
    {"short_reads", short_reads},
    {"shared_position", shared_position},
    {"reads_beside_large_writes", reads_beside_large_writes},
    {"starved_stat", starved_stat},
    {"stream_then_open", stream_then_open},
    {"map_then_open", map_then_open},
    {"other_names", other_names},
    {"opened_by_other_name_first", opened_by_other_name_first},
    {"truncated_by_freopen", truncated_by_freopen},
    {"reopened_in_place", reopened_in_place},
    {"truncated_by_path", truncated_by_path},
    {"bytes_left_to_read", bytes_left_to_read},
    {"stream_begins_at_end", stream_begins_at_end},
    {"append_beside_streams", append_beside_streams},
    {"kernel_files", kernel_files},
    {"no_memory", no_memory},
    {"temporary_by_two_descriptors", temporary_by_two_descriptors},
    {"dprintf_between_calls", dprintf_between_calls},
    {"attributes", attributes},
    {"cancelled_write", cancelled_write},
    {"stream_seeks", stream_seeks},
    {"lock_in_another_file", lock_in_another_file},
    {"all_calls_of_streams", all_calls_of_streams},
    {"reused_inodes", reused_inodes},
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
