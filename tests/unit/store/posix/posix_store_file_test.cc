// Behaviour of kernel files beyond the contract of all stores.
#include "store/posix/posix_store_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "store/posix/posix_store.h"
#include "temporary_directory.h"

namespace {

/// If set, fallocate behaves as on a Lustre whose OSTs refuse it: the size grows, no space is
/// allocated.
bool g_fallocate_lies = false;
/// As on tmpfs with a profiler: a signal undoes each call of more bytes.
off_t g_interrupted_above = std::numeric_limits<off_t>::max();

}  // namespace

/// Replaces the function of libc in this program.
extern "C" int fallocate(int file, int mode, off_t offset, off_t length) {
  if (length > g_interrupted_above) {
    errno = EINTR;
    return -1;
  }
  if (!g_fallocate_lies) {
    return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, length));
  }
  struct stat found {};
  if (fstat(file, &found) != 0) return -1;
  if (found.st_size < offset + length && ftruncate(file, offset + length) != 0) return -1;
  errno = EOPNOTSUPP;
  return -1;
}

namespace nacre::store {
namespace {

using fixtures::read_text;
using fixtures::TemporaryDirectory;
using fixtures::to_create;

}  // namespace

TEST_CASE("more pieces than one system call takes are moved, in order") {
  for (const std::string& root : fixtures::test_roots()) {
    const TemporaryDirectory directory(root);
    const auto file = *PosixStore().open(directory.file("x"), to_create);
    const unsigned seed = 20261120;
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text(20'000, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 26);
    std::vector<WritePiece> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 6, text.size() - at);
      pieces.push_back(
          {reinterpret_cast<const std::byte*>(&text[at]), static_cast<std::int64_t>(size)});
      at += size;
    }
    REQUIRE(pieces.size() > 4000);
    CHECK(file->write(pieces, 10).bytes == 20'000);
    CHECK(read_text(*file, 20'000, 10) == text);

    std::string back(text.size(), '?');
    std::vector<ReadPiece> reads;
    for (char& c : back) reads.push_back({reinterpret_cast<std::byte*>(&c), 1});
    CHECK(file->read(reads, 10).bytes == 20'000);
    CHECK(back == text);
  }
}

TEST_CASE("unmapped memory is a buffer error after the bytes that could be moved") {
  const TemporaryDirectory directory;
  const auto file = *PosixStore().open(directory.file("x"), to_create);
  const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* hidden = mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(hidden != MAP_FAILED);
  const std::string good = "good";
  const std::array<WritePiece, 2> pieces{
      {{reinterpret_cast<const std::byte*>(good.data()), 4},
       {static_cast<const std::byte*>(hidden), static_cast<std::int64_t>(page_bytes)}}};
  const Transfer done = file->write(pieces, 0);
  REQUIRE(done.error.has_value());
  CHECK(done.error->error_class == ErrorClass::buffer);
  CHECK(done.bytes == file->size().value());
  munmap(hidden, page_bytes);
}

TEST_CASE("the error of a transfer names the byte of the file") {
  const auto full = *PosixStore().open("/dev/full", fixtures::to_write);
  const Transfer done = fixtures::write_text(*full, "x", 4096);
  REQUIRE(done.error.has_value());
  CHECK(done.error->error_class == ErrorClass::no_space);
  CHECK(done.error->message == "write at byte 4096 of /dev/full: no space left on device");
}

TEST_CASE("sync succeeds for a file without a device") {
  const auto null = *PosixStore().open("/dev/null", fixtures::to_update);
  CHECK(null->sync().ok());
}

TEST_CASE("an error of resize is returned") {
  const auto null = *PosixStore().open("/dev/null", fixtures::to_update);
  const Status resized = null->resize(10);
  REQUIRE_FALSE(resized.ok());
  CHECK(resized.error().message == "set the size of /dev/null: invalid argument");
}

TEST_CASE("allocate goes on in pieces if signals undo longer calls") {
  const TemporaryDirectory directory;
  const auto file = *PosixStore().open(directory.file("x"), to_create);
  const std::int64_t size = (20 << 20) + 1;
  g_interrupted_above = 3 << 20;
  const Status allocated = file->allocate(size);
  g_interrupted_above = std::numeric_limits<off_t>::max();
  CHECK(allocated.ok());
  CHECK(file->size().value() == size);
}

TEST_CASE("allocate writes zeros if a refused fallocate has raised the size") {
  for (const std::string& root : fixtures::test_roots()) {
    CAPTURE(root);
    const TemporaryDirectory directory(root);
    const auto file = *PosixStore().open(directory.file("x"), to_create);
    REQUIRE(fixtures::write_text(*file, "kept", 100).bytes == 4);
    const auto stored_bytes = [&] {
      REQUIRE(file->sync().ok());
      return fixtures::stored_bytes(directory.file("x"));
    };
    const bool counts_storage = stored_bytes() > 0;  // a Lustre with its objects in memory: no
    g_fallocate_lies = true;
    const Status below = file->allocate(50);
    const std::int64_t size_below = file->size().value();
    const std::int64_t size = (40 << 20) + 1;  // three writes of zeros
    const Status above = file->allocate(size);
    g_fallocate_lies = false;
    CHECK(below.ok());
    CHECK(size_below == 104);
    CHECK(above.ok());
    CHECK(file->size().value() == size);
    CHECK((stored_bytes() >= size || !counts_storage));
    std::string text = read_text(*file, size + 1, 0);
    std::string expected(static_cast<std::size_t>(size), '\0');
    expected.replace(100, 4, "kept");
    CHECK((text == expected));
  }
}

TEST_CASE("direct accesses move the same bytes, whichever part of them can be direct") {
  constexpr std::int64_t page = 4096;
  for (const std::string& root : fixtures::test_roots()) {
    CAPTURE(root);
    const TemporaryDirectory directory(root);
    OpenOptions direct = to_create;
    direct.read = direct.direct_reads = direct.direct_writes = true;
    const auto file = *PosixStore().open(directory.file("x"), direct);
    const unsigned seed = 20261122;
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::byte> expected(40 * page);
    std::vector<std::byte> memory(20 * page);
    void* const start = memory.data();
    std::size_t room = memory.size();
    void* aligned = start;
    REQUIRE(std::align(page, 8 * page, aligned, room) != nullptr);
    auto* const base = static_cast<std::byte*>(aligned);
    std::int64_t end = 0;
    for (int step = 0; step < 200; ++step) {
      const bool whole = step % 2 == 0;
      const auto offset = static_cast<std::int64_t>(random() % 30) * page +
                          (whole ? 0 : static_cast<std::int64_t>(random() % 4096));
      const auto size = static_cast<std::int64_t>(1 + random() % 7) * (whole ? page : 1001);
      std::byte* const data = base + (whole ? 0 : 1);
      for (std::int64_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(random());
      const WritePiece written{data, size};
      REQUIRE(file->write({&written, 1}, offset).bytes == size);
      std::copy_n(data, size, expected.begin() + offset);
      end = std::max(end, offset + size);

      // Up to the end of the file and beyond, aligned or not.
      const auto from = static_cast<std::int64_t>(random() % 40) * page;
      const ReadPiece read{base, 8 * page};
      const Transfer done = file->read({&read, 1}, from);
      CHECK_FALSE(done.error);
      CHECK(done.bytes == std::clamp<std::int64_t>(end - from, 0, 8 * page));
      CHECK(std::equal(base, base + done.bytes, expected.begin() + from));
    }
    CHECK(file->sync().ok());
    CHECK(file->close().ok());
  }
}

}  // namespace nacre::store
