#include "live_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nacre::simulation {
namespace {

std::atomic<std::int64_t> live = 0;
std::atomic<std::int64_t> peak = 0;
std::atomic<std::int64_t> largest_mapping = 0;

std::function<bool()>& refusal() {
  static std::function<bool()> refuses;
  return refuses;
}

}  // namespace

std::int64_t live_bytes() { return live; }

std::int64_t take_peak_bytes() { return peak.exchange(live); }

std::int64_t take_largest_mapping() { return largest_mapping.exchange(0); }

void refuse_memory(std::function<bool()> refuses) { refusal() = std::move(refuses); }

}  // namespace nacre::simulation

#ifndef __SANITIZE_ADDRESS__

namespace {

void* allocate(std::size_t size) noexcept {
  using namespace nacre::simulation;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) return nullptr;
  live += static_cast<std::int64_t>(malloc_usable_size(memory));
  peak = std::max<std::int64_t>(peak, live);
  return memory;
}

/// The bytes of a private mapping whose pages are allocated.
std::int64_t allocated_bytes(void* address, std::size_t size) {
  constexpr std::size_t page_bytes = 4096;
  std::array<unsigned char, 1024> pages{};
  std::int64_t count = 0;
  for (std::size_t done = 0; done < size; done += pages.size() * page_bytes) {
    const std::size_t bytes = std::min(pages.size() * page_bytes, size - done);
    if (mincore(static_cast<std::byte*>(address) + done, bytes, pages.data()) != 0) continue;
    const auto end = pages.begin() + static_cast<std::ptrdiff_t>(bytes / page_bytes);
    count += std::count_if(pages.begin(), end, [](unsigned char page) { return (page & 1) != 0; });
  }
  return count * static_cast<std::int64_t>(page_bytes);
}

}  // namespace

// The other forms of operator new and delete call these.
void* operator new(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  const auto& refuses = nacre::simulation::refusal();
  return refuses && refuses() ? nullptr : allocate(size);
}
void operator delete(void* memory) noexcept {
  nacre::simulation::live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
// Address space whose pages are allocated when they are written (store::ReservedMemory).
extern "C" void* mmap(void* address, std::size_t size, int protection, int flags, int descriptor,
                      off_t offset) noexcept {
  const auto& refuses = nacre::simulation::refusal();
  if ((flags & MAP_NORESERVE) != 0 && refuses && refuses()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, size, protection, flags, descriptor, offset));
}
extern "C" int munmap(void* address, std::size_t size) noexcept {
  using namespace nacre::simulation;
  if (refusal())
    largest_mapping = std::max<std::int64_t>(largest_mapping, allocated_bytes(address, size));
  return static_cast<int>(syscall(SYS_munmap, address, size));
}

#endif
