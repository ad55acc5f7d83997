// Real limits of file sizes, of space, and of bytes per system call.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "child.h"
#include "store/memory/shared_memory.h"
#include "store/posix/posix_store.h"
#include "store/posix/shared_counter.h"
#include "temporary_directory.h"

namespace nacre::store {
namespace {

using fixtures::Checks;
using fixtures::read_text;
using fixtures::Report;
using fixtures::TemporaryDirectory;
using fixtures::to_create;
using fixtures::write_text;

void run(const std::function<Report()>& body) {
  const Report report = fixtures::run_in_child(body);
  if (!fixtures::is_skipped(report)) CHECK(report == "");
}

std::unique_ptr<StoreFile> create(const std::string& path) {
  return *PosixStore().open(path, to_create);
}

bool limit_file_size(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

/// Whether the kernel limits writes to files in the directory. A Lustre client limits resizes only.
bool applies_file_size_limit(const TemporaryDirectory& directory) {
  const auto file = create(directory.file("probe"));
  return limit_file_size(1) && write_text(*file, "xx", 0).error && limit_file_size(RLIM_INFINITY);
}

bool is_too_large(const Error& error) {
  return error.error_class == ErrorClass::io && error.system_errno == EFBIG &&
         error.message.find(
             "file too large (the limit on file sizes, ulimit -f, is 100000 bytes)") !=
             std::string::npos;
}

bool is_no_space(const Error& error) {
  return error.error_class == ErrorClass::no_space &&
         error.message.find("no space left on device") != std::string::npos;
}

volatile sig_atomic_t signals_seen = 0;

}  // namespace

TEST_CASE("exceeding the limit of file sizes is an error that names the limit, without a signal") {
  for (const std::string& root : fixtures::test_roots()) {
    run([&] {
      const TemporaryDirectory directory(root);
      if (!applies_file_size_limit(directory)) {
        return fixtures::skip("the kernel does not limit file sizes in " + root);
      }
      const auto file = create(directory.file("x"));
      Checks checks;
      checks.that(limit_file_size(100'000), "setrlimit");
      const Transfer written = write_text(*file, std::string(150'000, 'x'), 50'000);
      checks.that(written.bytes == 50'000, "short");
      checks.that(written.error && is_too_large(*written.error), "write");
      checks.that(written.error && written.error->message.find("write at byte 100000 of ") == 0,
                  "place");
      const Status resized = file->resize(100'001);
      checks.that(!resized && is_too_large(resized.error()), "resize");
      const Status allocated = file->allocate(100'001);
      checks.that(!allocated && is_too_large(allocated.error()), "allocate");
      checks.that(*file->size() == 100'000, "size");
      sigset_t set;
      sigpending(&set);
      checks.that(sigismember(&set, SIGXFSZ) == 0, "nothing pends");
      pthread_sigmask(SIG_BLOCK, nullptr, &set);
      checks.that(sigismember(&set, SIGXFSZ) == 0, "the mask is as before");
      return checks.report();
    });
  }
}

TEST_CASE("the SIGXFSZ handler of the program is kept") {
  run([] {
    const TemporaryDirectory directory;
    const auto file = create(directory.file("x"));
    Checks checks;
    signal(SIGXFSZ, [](int) { signals_seen = signals_seen + 1; });
    checks.that(limit_file_size(100'000), "setrlimit");
    checks.that(write_text(*file, "x", 100'000).error.has_value(), "write");
    checks.that(signals_seen == 0, "no handler runs for our write");

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    raise(SIGXFSZ);
    checks.that(write_text(*file, "x", 100'000).error.has_value(), "write again");
    checks.that(signals_seen == 0, "still blocked");
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    checks.that(signals_seen == 1, "the one that was pending is delivered");
    return checks.report();
  });
}

TEST_CASE("a full file system is no_space, after the bytes that fit") {
  const TemporaryDirectory
      directory;  // created in the parent: a child could not remove its mount point
  run([&] {
    if (const auto reason = fixtures::own_mounts()) return fixtures::skip(*reason);
    if (const auto reason = fixtures::mount_on(directory.path(), "tmpfs", "size=64k")) {
      return fixtures::skip(*reason);
    }
    const auto file = create(directory.file("x"));
    Checks checks;
    const Transfer written = write_text(*file, std::string(100'000, 'x'), 0);
    checks.that(written.bytes == 65'536, "short");
    checks.that(written.error && is_no_space(*written.error), "write");
    checks.that(read_text(*file, 100'000, 0) == std::string(65'536, 'x'), "what went in is there");
    const Status allocated = file->allocate(1'000'000);
    checks.that(!allocated && is_no_space(allocated.error()), "allocate");
    const auto counter = PosixStore().counter({directory.file("x"), 7, false}, true);
    checks.that(!counter && is_no_space(counter.error()), "counter");
    checks.that(directory.entry_count() == 1, "no counter's file is left");
    return checks.report();
  });
}

TEST_CASE("a full /dev/shm is an error of the counter, without SIGBUS") {
  run([] {
    if (const auto reason = fixtures::own_mounts()) return fixtures::skip(*reason);
    if (const auto reason = fixtures::mount_on("/dev/shm", "tmpfs", "size=4k")) {
      return fixtures::skip(*reason);
    }
    Checks checks;
    {
      const auto filler = create("/dev/shm/filler");
      checks.that(write_text(*filler, std::string(4096, 'x'), 0).bytes == 4096, "fill");
    }
    const auto counter = memory_counter(8, true);
    checks.that(!counter && is_no_space(counter.error()), "create");
    checks.that(!counter && counter.error().message.find("/dev/shm is full") != std::string::npos,
                "advice");
    checks.that(access(("/dev/shm" + SharedMemory::name(8)).c_str(), F_OK) != 0, "nothing left");
    return checks.report();
  });
}

TEST_CASE(
    "a word of shared memory that its creator has not allocated yet is allocated, without SIGBUS") {
  const std::string path = "/dev/shm" + SharedMemory::name(9);
  { std::ofstream empty(path); }
  const auto counter = memory_counter(9, false);
  REQUIRE(counter.ok());
  CHECK((*counter)->fetch_add(3).value() == 0);
  CHECK(memory_counter(9, false).value()->get().value() == 3);
  CHECK(PosixStore().remove(path).ok());
}

TEST_CASE("without fallocate, zeros are written from the end of the file on") {
  const auto check_allocation = [](const TemporaryDirectory& directory) {
    const auto file = create(directory.file("x"));
    Checks checks;
    checks.that(write_text(*file, "kept", 100).bytes == 4 && file->sync().ok(), "write");
    // A Lustre with its objects in memory counts none.
    const bool counts_storage = fixtures::stored_bytes(directory.file("x")) > 0;
    checks.that(file->allocate(50).ok() && *file->size() == 104, "below the end");
    const std::int64_t size = (40 << 20) + 1;  // three writes of zeros
    checks.that(file->allocate(size).ok() && *file->size() == size, "above the end");
    checks.that(read_text(*file, 6, 99) == std::string("\0kept\0", 6), "bytes are kept");
    const bool is_stored = file->sync().ok() && fixtures::stored_bytes(directory.file("x")) >= size;
    checks.that(is_stored || !counts_storage, "storage is real");
    return checks.report();
  };
  SUBCASE("on ramfs, which has no fallocate") {
    const TemporaryDirectory directory;
    run([&] {
      if (const auto reason = fixtures::own_mounts()) return fixtures::skip(*reason);
      if (const auto reason = fixtures::mount_on(directory.path(), "ramfs", "")) {
        return fixtures::skip(*reason);
      }
      const auto file = create(directory.file("y"));
      Checks checks;
      checks.that(file->allocate(100'000).ok() && *file->size() == 100'000, "allocate");
      checks.that(read_text(*file, 100'000, 0) == std::string(100'000, '\0'), "zeros");
      return checks.report();
    });
  }
  SUBCASE("if the kernel refuses fallocate") {
    for (const std::string& root : fixtures::test_roots()) {
      run([&] {
        const TemporaryDirectory directory(root);
        if (!fixtures::refuse_system_call(SYS_fallocate, std::nullopt, EOPNOTSUPP)) {
          return fixtures::skip("no seccomp");
        }
        return check_allocation(directory);
      });
    }
  }
  SUBCASE("if the limit of file sizes is reached") {
    run([] {
      const TemporaryDirectory directory;
      const auto file = create(directory.file("x"));
      if (!fixtures::refuse_system_call(SYS_fallocate, std::nullopt, EOPNOTSUPP)) {
        return fixtures::skip("no seccomp");
      }
      Checks checks;
      checks.that(limit_file_size(100'000), "setrlimit");
      const Status allocated = file->allocate(200'000);
      checks.that(!allocated && is_too_large(allocated.error()), "error");
      return checks.report();
    });
  }
}

TEST_CASE("one call reads more than 2 GiB of a sparse file") {
  for (const std::string& root : fixtures::test_roots()) {
    const TemporaryDirectory directory(root);
    const auto file = create(directory.file("x"));
    const std::int64_t size = (std::int64_t{2} << 30) + 12'345;
    REQUIRE(file->resize(size).ok());
    REQUIRE(write_text(*file, "end", size - 3).bytes == 3);
    // All pieces except the last use the same bytes of memory.
    std::vector<std::byte> scratch(64 << 20);
    std::array<char, 3> last{};
    std::vector<ReadPiece> pieces;
    for (std::int64_t left = size - 3; left > 0; left -= pieces.back().size) {
      pieces.push_back({scratch.data(), std::min<std::int64_t>(left, scratch.size())});
    }
    pieces.push_back({reinterpret_cast<std::byte*>(last.data()), 1000});
    pieces.back().size = last.size();
    const Transfer done = file->read(pieces, 0);
    CHECK_FALSE(done.error.has_value());
    CHECK(done.bytes == size);
    CHECK(std::string(last.data(), last.size()) == "end");
  }
}

TEST_CASE("one call writes more than 2 GiB") {
  std::vector<std::byte> block(16 << 20, std::byte{0});
  const std::string mark = "mark";
  std::vector<WritePiece> pieces;
  std::int64_t size = 0;
  // 135 x (16 MiB + 4 bytes): 2.1 GiB, with a mark before and after what one system call moves.
  for (int i = 0; i < 135; ++i) {
    pieces.push_back({block.data(), static_cast<std::int64_t>(block.size())});
    pieces.push_back({reinterpret_cast<const std::byte*>(mark.data()), 4});
    size += static_cast<std::int64_t>(block.size()) + 4;
  }
  REQUIRE(size > std::int64_t{2} << 30);

  SUBCASE("to /dev/null") {
    const auto null = *PosixStore().open("/dev/null", fixtures::to_write);
    CHECK(null->write(pieces, 0).bytes == size);
    CHECK(null->sync().ok());
  }
  SUBCASE("to a file") {
    const std::int64_t available = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) *
                                   static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    const TemporaryDirectory directory;
    const auto file = create(directory.file("x"));
    if (available < 2 * size || !file->allocate(size).ok()) {
      MESSAGE("SKIP: not enough memory free for a file of 2.1 GiB in shared memory");
      return;
    }
    const Transfer done = file->write(pieces, 0);
    CHECK_FALSE(done.error.has_value());
    CHECK(done.bytes == size);
    CHECK(file->size().value() == size);
    for (int i = 1; i <= 135; ++i) {
      const std::int64_t mark_at = i * (static_cast<std::int64_t>(block.size()) + 4) - 4;
      REQUIRE(read_text(*file, 5, mark_at - 1) == std::string("\0mark", 5));
    }
  }
}

}  // namespace nacre::store
