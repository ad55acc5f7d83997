// Memory that processes share: found by another process, not found, and refused.
#include "store/memory/shared_memory.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../child.h"

namespace nacre::store {
namespace {

using fixtures::Child;
using fixtures::Report;
using Kind = SharedMemory::Kind;

constexpr std::int64_t size = 10'000;

/// Tells a child an address.
class Message {
 public:
  Message() { REQUIRE(pipe(ends_.data()) == 0); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void send(const SharedMemoryAddress& address) const {
    REQUIRE(write(ends_[1], &address, sizeof address) == sizeof address);
  }
  [[nodiscard]] SharedMemoryAddress receive() const {
    SharedMemoryAddress address;
    return read(ends_[0], &address, sizeof address) == sizeof address ? address
                                                                      : SharedMemoryAddress();
  }

 private:
  std::array<int, 2> ends_{};
};

/// Attaches, reads the first byte, and changes the last one.
Report use(const SharedMemoryAddress& address) {
  Result<SharedMemory> found = SharedMemory::attach(address, size, "find the memory");
  if (!found) return found.error().message;
  if (found->bytes().front() != std::byte{1}) return "another first byte";
  if (found->bytes()[1] != std::byte{0}) return "no zero";
  found->bytes().back() = std::byte{2};
  return {};
}

std::int64_t allocated_bytes(const SharedMemory& memory) {
  struct stat status {};
  const std::string path = "/proc/self/fd/" + std::to_string(memory.address().descriptor);
  REQUIRE(stat(path.c_str(), &status) == 0);
  return std::int64_t{status.st_blocks} * 512;
}

void run(const std::function<Report()>& body) {
  const Report report = fixtures::run_in_child(body);
  if (!fixtures::is_skipped(report)) CHECK(report == "");
}

}  // namespace

TEST_CASE("another process finds the memory, and none finds it after it was forgotten") {
  for (const Kind kind : {Kind::unnamed, Kind::named}) {
    const Message message;
    const Message late_message;
    // The children do not inherit the memory.
    Child child([&] { return use(message.receive()); });
    Child late_child([&] { return use(late_message.receive()); });
    const SharedMemory memory = SharedMemory::create(kind, random_id(), size, "test").value();
    const SharedMemoryAddress address = memory.address();
    memory.bytes().front() = std::byte{1};
    message.send(address);
    CHECK(child.report() == "");
    CHECK(memory.bytes().back() == std::byte{2});
    SharedMemory::forget(address.id);
    late_message.send(address);
    CHECK(late_child.report().starts_with("find the memory"));
  }
}

TEST_CASE("unnamed memory takes the pages that are accessed only") {
  constexpr std::int64_t large = 64 << 20;
  const SharedMemory memory =
      SharedMemory::create(Kind::unnamed, random_id(), large, "test").value();
  CHECK(allocated_bytes(memory) == 0);
  memory.bytes().back() = std::byte{1};
  CHECK(allocated_bytes(memory) > 0);
  CHECK(allocated_bytes(memory) < large);
}

TEST_CASE("a descriptor of another object is not attached") {
  const Message message;
  Child child([&] { return use(message.receive()); });
  const SharedMemory memory =
      SharedMemory::create(Kind::unnamed, random_id(), size, "test").value();
  SharedMemoryAddress address = memory.address();
  address.id = random_id();
  message.send(address);
  CHECK(child.report().starts_with("find the memory"));
}

TEST_CASE("memory that is refused is an error") {
  const std::int64_t too_much = std::int64_t{1} << 60;
  for (const Kind kind : {Kind::unnamed, Kind::named}) {
    CHECK_FALSE(SharedMemory::create(kind, random_id(), too_much, "test").ok());
  }
  run([]() -> Report {
    const rlimit limit{size - 1, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (const Kind kind : {Kind::unnamed, Kind::named}) {
      if (SharedMemory::create(kind, random_id(), size, "test").ok()) return "above the limit";
    }
    return {};
  });
  run([]() -> Report {
    if (!fixtures::refuse_system_call(SYS_memfd_create, std::nullopt, EPERM)) {
      return fixtures::skip("no seccomp");
    }
    const auto unnamed = SharedMemory::create(Kind::unnamed, random_id(), size, "create it");
    if (unnamed.ok()) return "created";
    if (!unnamed.error().message.starts_with("create it")) return unnamed.error().message;
    const std::uint64_t id = random_id();
    if (!SharedMemory::create(Kind::named, id, size, "create it").ok()) return "not created";
    SharedMemory::forget(id);
    return {};
  });
}

}  // namespace nacre::store
