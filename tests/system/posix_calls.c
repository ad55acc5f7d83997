/* Random calls of POSIX on one file, held against the bytes that the file must have. Run with
 * libnacre_posix.so and NACRE_IOBUF; arguments: FILE, seed, number of calls. Ends with 1 and a line
 * that names the call at the first difference. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { size_max = 1 << 18, piece_max = 6000, descriptor_count = 4 };

static unsigned char expected[size_max];
static int64_t size;
static const char* path;
static uint64_t state;
static int step;
/* Whether calls are made after which Nacre leaves the file alone: mmap, O_SYNC. */
static int is_left_alone;

/* Open file descriptions: a descriptor that was duplicated shares the position of its original. */
static struct {
  int descriptor, flags, shared_with;
  int64_t position;
} opened[descriptor_count];

static unsigned draw(unsigned below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 11) % below);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("call %d: ", step);
  vprintf(format, arguments);
  printf(" (errno %d)\n", errno);
  va_end(arguments);
  fflush(stdout);
  _exit(1);
}

static int64_t* position_of(int which) { return &opened[opened[which].shared_with].position; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void fill(unsigned char* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) bytes[i] = (unsigned char)draw(256);
}

/* What a write of `count` bytes at `offset` does to the file. */
static void expect_write(const unsigned char* bytes, int64_t count, int64_t offset) {
  if (offset > size) memset(expected + size, 0, (size_t)(offset - size));
  memcpy(expected + offset, bytes, (size_t)count);
  if (offset + count > size) size = offset + count;
}

static int64_t piece(int64_t offset) {
  const int64_t wanted = draw(8) == 0 ? 1 + draw(piece_max) : 1 + draw(300);
  return smaller(wanted, size_max - offset);
}

static void write_some(int which, int is_vectored) {
  static unsigned char bytes[piece_max];
  const int appends = (opened[which].flags & O_APPEND) != 0;
  const int64_t offset = appends ? size : *position_of(which);
  const int64_t count = piece(offset);
  if (count <= 0) return;
  fill(bytes, count);
  struct iovec parts[2] = {{bytes, (size_t)(count / 2)},
                           {bytes + count / 2, (size_t)(count - count / 2)}};
  const ssize_t wrote = is_vectored ? writev(opened[which].descriptor, parts, 2)
                                    : write(opened[which].descriptor, bytes, (size_t)count);
  if (wrote != count) fail("write of %ld bytes returned %zd", (long)count, wrote);
  expect_write(bytes, count, offset);
  *position_of(which) = offset + count;
}

static void write_at(int which) {
  static unsigned char bytes[piece_max];
  const int64_t offset = (opened[which].flags & O_APPEND) != 0 ? size : (int64_t)draw(size_max);
  const int64_t count = piece(offset);
  if (count <= 0) return;
  fill(bytes, count);
  if (pwrite(opened[which].descriptor, bytes, (size_t)count, offset) != count) fail("pwrite");
  expect_write(bytes, count, offset);
}

static void read_some(int which, int has_offset, int is_vectored) {
  static unsigned char bytes[piece_max];
  const int64_t offset = has_offset ? (int64_t)draw(size_max) : *position_of(which);
  const int64_t count = 1 + draw(draw(8) == 0 ? piece_max : 300);
  const struct iovec part = {bytes, (size_t)count};
  const ssize_t got = has_offset    ? pread(opened[which].descriptor, bytes, (size_t)count, offset)
                      : is_vectored ? readv(opened[which].descriptor, &part, 1)
                                    : read(opened[which].descriptor, bytes, (size_t)count);
  const int64_t wanted = offset >= size ? 0 : smaller(count, size - offset);
  if (got != wanted)
    fail("read of %ld bytes at %ld returned %zd, not %ld", (long)count, (long)offset, got,
         (long)wanted);
  if (memcmp(bytes, expected + offset, (size_t)wanted) != 0)
    fail("read at %ld: wrong bytes", (long)offset);
  if (!has_offset) *position_of(which) += got;
}

static void seek(int which) {
  const int whence = (int)draw(3); /* SEEK_SET, SEEK_CUR, SEEK_END */
  const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? *position_of(which) : size;
  int64_t target = (int64_t)draw(size_max);
  if (draw(3) != 0) target = smaller(size, target);
  if (lseek(opened[which].descriptor, target - base, whence) != target)
    fail("lseek to %ld", (long)target);
  *position_of(which) = target;
}

static void truncate_to(int which, int by_path) {
  const int64_t wanted = draw(4) == 0 ? (int64_t)draw(size_max) : smaller(size, draw(size_max));
  if ((by_path ? truncate(path, wanted) : ftruncate(opened[which].descriptor, wanted)) != 0)
    fail("truncate");
  if (wanted > size) memset(expected + size, 0, (size_t)(wanted - size));
  size = wanted;
}

static void compare_size(int which, int by_path) {
  struct stat status;
  if ((by_path ? stat(path, &status) : fstat(opened[which].descriptor, &status)) != 0) fail("stat");
  if (status.st_size != size) fail("stat: size %ld, not %ld", (long)status.st_size, (long)size);
}

static void open_as(int which, int flags) {
  opened[which].descriptor = open(path, flags, 0644);
  if (opened[which].descriptor < 0) fail("open");
  opened[which].flags = flags;
  opened[which].shared_with = which;
  opened[which].position = 0;
}

static int random_flags(void) {
  switch (draw(4)) {
    case 0:
      return O_RDWR | O_APPEND;
    case 1:
      return O_RDWR | (is_left_alone && draw(4) == 0 ? O_SYNC : 0);
    default:
      return O_RDWR;
  }
}

/* Closes a descriptor, and opens the file again or duplicates another descriptor. */
static void replace(int which) {
  for (int other = 0; other < descriptor_count; ++other) {
    if (other != which && opened[other].shared_with == which) return; /* its position is needed */
  }
  const int original = (int)draw(descriptor_count);
  if (draw(2) == 0 && original != which && opened[original].shared_with == original) {
    if (draw(2) == 0) {
      if (dup2(opened[original].descriptor, opened[which].descriptor) < 0) fail("dup2");
    } else {
      if (close(opened[which].descriptor) != 0) fail("close");
      opened[which].descriptor = draw(2) == 0
                                     ? dup(opened[original].descriptor)
                                     : fcntl(opened[original].descriptor, F_DUPFD_CLOEXEC, 0);
    }
    if (opened[which].descriptor < 0) fail("dup");
    opened[which].flags = opened[original].flags;
    opened[which].shared_with = original;
    return;
  }
  if (close(opened[which].descriptor) != 0) fail("close");
  const int truncates = draw(16) == 0 ? O_TRUNC : 0;
  open_as(which, random_flags() | truncates);
  if (truncates) size = 0;
}

/* Another process writes and reads by the same open file description. */
static void in_child(int which, int by_vfork) {
  const uint64_t before = state;
  const pid_t child = by_vfork ? vfork() : fork();
  if (child < 0) fail("fork");
  if (child == 0 && by_vfork) _exit(0);
  if (child == 0) {
    write_some(which, 0);
    read_some(which, 0, 0);
    write_some(which, 1);
    if (draw(2) == 0) exit(0);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child failed");
  if (by_vfork) return;
  /* The same calls, on the expectation alone. */
  state = before;
  static unsigned char bytes[piece_max];
  for (int part = 0; part < 3; ++part) {
    int64_t* const position = position_of(which);
    if (part == 1) {
      const int64_t count = 1 + draw(draw(8) == 0 ? piece_max : 300);
      *position += *position >= size ? 0 : smaller(count, size - *position);
      continue;
    }
    const int64_t offset = (opened[which].flags & O_APPEND) != 0 ? size : *position;
    const int64_t count = piece(offset);
    if (count <= 0) continue;
    fill(bytes, count);
    expect_write(bytes, count, offset);
    *position = offset + count;
  }
}

static void compare_by_map(int which) {
  if (size == 0) return;
  const unsigned char* const mapped =
      mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, opened[which].descriptor, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  if (memcmp(mapped, expected, (size_t)size) != 0) fail("mmap: wrong bytes");
  munmap((void*)mapped, (size_t)size);
}

static void call(int which, unsigned kind) {
  if (kind < 420) {
    write_some(which, draw(8) == 0);
  } else if (kind < 480) {
    write_at(which);
  } else if (kind < 700) {
    read_some(which, draw(4) == 0, draw(8) == 0);
  } else if (kind < 780) {
    seek(which);
  } else if (kind < 810) {
    truncate_to(which, draw(2) == 0);
  } else if (kind < 860) {
    compare_size(which, draw(2) == 0);
  } else if (kind < 900) {
    if ((draw(2) == 0 ? fsync(opened[which].descriptor) : fdatasync(opened[which].descriptor)) != 0)
      fail("fsync");
  } else if (kind < 985) {
    replace(which);
  } else if (kind < 997) {
    in_child(which, draw(4) == 0);
  } else if (is_left_alone) {
    compare_by_map(which);
  }
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  path = arguments[1];
  state = strtoull(arguments[2], NULL, 10) * 2654435761u + 1;
  for (int i = 0; i < 10; ++i) draw(2);
  const int calls = atoi(arguments[3]);
  is_left_alone = draw(4) == 0;
  unlink(path);
  for (int which = 0; which < descriptor_count; ++which) open_as(which, O_CREAT | random_flags());
  for (step = 0; step < calls; ++step) {
    /* Runs of calls by one descriptor, most of one kind, so that there is something to gather. */
    const int which = (int)draw(descriptor_count);
    const unsigned kind = draw(1000);
    const unsigned is_mixed = draw(4) == 0;
    for (unsigned run = 1 + draw(20); run > 0; --run) call(which, is_mixed ? draw(1000) : kind);
  }
  for (int which = 0; which < descriptor_count; ++which) {
    if (close(opened[which].descriptor) != 0) fail("close at the end");
  }
  const int file = open(path, O_RDONLY);
  static unsigned char found[size_max];
  const ssize_t got = pread(file, found, size_max, 0);
  if (got != size || memcmp(found, expected, (size_t)size) != 0) fail("at the end: wrong bytes");
  return 0;
}
