#include "store/memory/reserved_memory.h"

#include <string>
#include <utility>

#include <sys/mman.h>

#include "base/checked_cast.h"
#include "base/rounding.h"

namespace nacre::store {
namespace {
constexpr std::int64_t page_bytes = 4096;
}  // namespace

Result<ReservedMemory> ReservedMemory::reserve(std::int64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const auto size = checked_cast<std::size_t>(round_up(bytes, page_bytes));
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorClass::no_mem, 0,
                 "cannot reserve " + std::to_string(bytes) + " bytes of address space"};
  }
  return ReservedMemory({static_cast<std::byte*>(memory), size});
}

ReservedMemory::ReservedMemory(ReservedMemory&& other) noexcept
    : all_(std::exchange(other.all_, {})), left_(std::exchange(other.left_, {})) {}

ReservedMemory& ReservedMemory::operator=(ReservedMemory&& other) noexcept {
  std::swap(all_, other.all_);
  std::swap(left_, other.left_);
  return *this;
}

ReservedMemory::~ReservedMemory() {
  if (!all_.empty()) munmap(all_.data(), all_.size());
}

Result<std::span<std::byte>> ReservedMemory::take(std::int64_t bytes) {
  const auto size = checked_cast<std::size_t>(round_up(bytes, page_bytes));
  if (size > left_.size()) {
    return Error{ErrorClass::no_mem, 0,
                 "cannot take " + std::to_string(bytes) + " bytes: only " +
                     std::to_string(left_.size()) + " of the reserved address space are left"};
  }
  const std::span<std::byte> taken = left_.first(checked_cast<std::size_t>(bytes));
  left_ = left_.subspan(size);
  return taken;
}

}  // namespace nacre::store
