// Reserved memory costs address space until it is written, and its parts do not overlap.
#include "store/memory/reserved_memory.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include <doctest/doctest.h>

#include "store/memory/shared_memory.h"

namespace nacre::store {

TEST_CASE("parts are zeros, page-aligned and apart from each other") {
  constexpr std::int64_t page_bytes = 4096;
  ReservedMemory memory = ReservedMemory::reserve(std::int64_t{1} << 32U).value();
  const std::span<std::byte> first = memory.take(10).value();
  const std::span<std::byte> second = memory.take(std::int64_t{1} << 31U).value();
  CHECK(first.size() == 10);
  CHECK(second.data() - first.data() == page_bytes);
  CHECK(second.back() == std::byte{0});
  second.back() = std::byte{1};
  CHECK(memory.contains(&second.back()));
  const std::byte outside{0};
  CHECK_FALSE(memory.contains(&outside));
}

TEST_CASE("more than is left cannot be taken, more than the system has not be reserved") {
  ReservedMemory memory = ReservedMemory::reserve(8192).value();
  CHECK(memory.take(8193).error().error_class == ErrorClass::no_mem);
  CHECK(memory.take(8192).ok());
  CHECK(memory.take(1).error().error_class == ErrorClass::no_mem);
  CHECK(ReservedMemory::reserve(std::int64_t{1} << 62U).error().error_class == ErrorClass::no_mem);
}

TEST_CASE("ranks of one process attach lent memory") {
  alignas(64) std::byte memory[64]{};
  const std::uint64_t id = random_id();
  const SharedMemory lent = SharedMemory::lend(id, memory);
  const SharedMemory found = SharedMemory::attach({id}, 64, "test").value();
  CHECK(found.bytes().data() == static_cast<std::byte*>(memory));
  SharedMemory::forget(id);
  CHECK_FALSE(SharedMemory::attach({id}, 64, "test").ok());
}

}  // namespace nacre::store
