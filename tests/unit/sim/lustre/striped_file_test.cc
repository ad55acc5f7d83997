// The bytes of a file are the same in any layout. A file without a layout behaves as on Lustre.
#include "sim/lustre/striped_file.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "asked_layout.h"

namespace nacre::sim {
namespace {

const Machine four_osts{.osts = 4, .stripe_size = 1 << 16};

std::vector<std::byte> bytes_of(std::size_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

TEST_CASE("a file without a layout cannot be written, reads as empty, and can be resized") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  std::vector<std::byte> bytes(10);
  CHECK(errno_in(file.layout()) == ENODATA);
  CHECK(errno_in(file.write(bytes, 0)) == EBADF);
  CHECK(file.read(bytes, 0).value() == 0);
  REQUIRE(file.resize(100).ok());
  CHECK(file.size() == 100);
}

TEST_CASE("a layout is set once: setting it again has no effect and is not an error") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  REQUIRE(file.set_layout(asked_layout("-c 2")).ok());
  const std::vector<std::byte> first = file.layout().value();
  CHECK(file.set_layout(asked_layout("-c 4")).ok());
  CHECK(file.layout().value() == first);
}

TEST_CASE("a node that sets a layout after another one sees none until it accesses the file") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  const int first = 0;
  const int second = 1;
  for (const int node : {first, second}) CHECK(errno_in(file.layout(node)) == ENODATA);
  for (const int node : {first, second}) {
    REQUIRE(file.set_layout(asked_layout("-c 2"), node).ok());
  }
  CHECK(file.layout(first).ok());
  CHECK(errno_in(file.layout(second)) == ENODATA);
  const auto handle = striping.costs.open(second, false);
  REQUIRE(file.locks_for({handle.get()}).ok());
  CHECK(file.layout(second).value() == file.layout(first).value());
}

TEST_CASE("writes after the last component fail until a tail is added") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  REQUIRE(file.set_layout(asked_layout("-E 64k -c 1")).ok());
  const std::vector<std::byte> bytes(10, std::byte{5});
  CHECK(file.write(bytes, 65526).ok());
  CHECK(errno_in(file.write(bytes, 65527)) == ENODATA);
  plan::Layout tail = asked_layout("-E 64k -c 1 -E -1 -c 4");
  tail.components.erase(tail.components.begin());
  REQUIRE(file.add_components(tail).ok());
  CHECK(file.write(bytes, 65527).ok());
  CHECK(file.size() == 65537);
}

TEST_CASE("locks ahead of writes have one extent of each object, where no other node has a lock") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  const std::vector<Extent> ranges{{0, 10'000'000}, {20'000'000, 1}};
  CHECK(errno_in(file.lock_ahead(0, ranges)) == EBADF);
  REQUIRE(file.set_layout(asked_layout("-E 4m -c 4 -S 64k -E -1 -c 2 -S 64k")).ok());
  REQUIRE(file.lock_ahead(0, ranges).ok());
  const auto grants_of = [&](const char* count) {
    return striping.costs.counters_json().find(std::string("\"lock_grants\":") + count) !=
           std::string::npos;
  };
  CHECK(file.objects().size() == 4);  // those of the first component, which exist
  CHECK(grants_of("[4,0]"));
  REQUIRE(file.lock_ahead(0, ranges).ok());
  REQUIRE(file.lock_ahead(1, ranges).ok());
  CHECK(grants_of("[4,0]"));
}

TEST_CASE("a group lock instantiates all objects and calls all other locks back") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  const auto handle = striping.costs.open(1, false);
  const Caller caller{handle.get()};
  const auto other_handle = striping.costs.open(0, false);
  const Caller other{other_handle.get()};
  file.locks().note_open(0);
  file.locks().note_open(1);
  CHECK(errno_in(file.acquire_group_lock(caller, 3)) == EBADF);
  REQUIRE(file.set_layout(asked_layout("-E 64k -c 1 -E -1 -c 4")).ok());
  CHECK(file.objects().size() == 1);
  REQUIRE(file.acquire_group_lock(caller, 3).ok());
  CHECK(file.objects().size() == 5);
  CHECK(errno_in(file.acquire_group_lock(other, 4)) == EBUSY);
  CHECK(errno_in(file.release_group_lock(other, 3)) == EINVAL);
  CHECK(file.release_group_lock(caller, 3).ok());
  CHECK(file.acquire_group_lock(other, 4).ok());
}

TEST_CASE("appended data is written at the end") {
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  REQUIRE(file.set_layout(asked_layout("-c 2")).ok());
  const std::vector<std::byte> bytes(10, std::byte{5});
  REQUIRE(file.write(bytes, 90).ok());
  REQUIRE(file.append(bytes).ok());
  CHECK(file.size() == 110);
}

TEST_CASE("random writes, reads and sizes agree with a plain array, in any layout") {
  const std::uint64_t seed = 20261122;
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  for (const char* words :
       {"-c 1", "-c 3 -S 64k", "-C 7 -S 64k", "-E 64k -L mdt -E 256k -c 1 -S 64k -E -1 -c 4",
        "-E 128k -c 1 -S 64k -E 512k -c 2 -E -1 -c 3 -S 128k"}) {
    CAPTURE(words);
    Striping striping(four_osts);
    StripedFile file(striping, 7);
    REQUIRE(file.set_layout(asked_layout(words)).ok());
    constexpr std::size_t size_max = 1 << 20;
    std::vector<std::byte> expected;
    for (int step = 0; step < 200; ++step) {
      const std::size_t offset = random() % size_max;
      const std::size_t count = 1 + random() % (random() % 2 == 0 ? 100 : 200'000);
      switch (random() % 4) {
        case 0: {
          REQUIRE(file.resize(static_cast<std::int64_t>(offset)).ok());
          expected.resize(offset);
          break;
        }
        case 1:
        case 2: {
          const std::vector<std::byte> bytes = bytes_of(count, random);
          REQUIRE(file.write(bytes, static_cast<std::int64_t>(offset)).ok());
          expected.resize(std::max(expected.size(), offset + count));
          std::ranges::copy(bytes, expected.begin() + static_cast<std::ptrdiff_t>(offset));
          break;
        }
        default:
          break;
      }
      CHECK(file.size() == std::ssize(expected));
      std::vector<std::byte> found(count, std::byte{0xee});
      const std::size_t read = file.read(found, static_cast<std::int64_t>(offset)).value();
      const std::size_t there =
          offset < expected.size() ? std::min(count, expected.size() - offset) : 0;
      REQUIRE(read == there);
      CHECK(std::equal(
          found.begin(), found.begin() + static_cast<std::ptrdiff_t>(there),
          expected.begin() + static_cast<std::ptrdiff_t>(std::min(offset, expected.size()))));
    }
  }
}

TEST_CASE("a migrated file has its bytes and its size in the new layout") {
  std::mt19937_64 random(6);
  Striping striping(four_osts);
  StripedFile file(striping, 7);
  const std::unique_ptr<OpenHandle> handle = striping.costs.open(0, false);
  file.locks().note_open(0);
  CHECK(errno_in(file.migrate({handle.get()}, asked_layout("-c 2 -S 64k"))) == EBADF);
  REQUIRE(file.set_layout(asked_layout("-E 64k -c 1 -E -1 -c 2 -S 64k")).ok());
  const std::vector<std::byte> bytes = bytes_of(300'000, random);
  REQUIRE(file.write(bytes, 1'000).ok());
  const std::vector<ObjectName> before = file.objects();
  REQUIRE(file.migrate({handle.get()}, asked_layout("-c 4 -S 128k")).ok());
  std::vector<std::byte> found(bytes.size());
  CHECK(file.read(found, 1'000).value() == bytes.size());
  CHECK(found == bytes);
  CHECK(file.size() == 301'000);
  const std::vector<ObjectName> after = file.objects();
  CHECK(after.size() == 4);
  for (const ObjectName& object : after) CHECK(std::ranges::find(before, object) == before.end());
  CHECK(errno_in(file.migrate({handle.get()}, asked_layout("-E 64k -c 1"))) == ENODATA);
  CHECK(file.read(found, 1'000).value() == bytes.size());
}

}  // namespace nacre::sim
