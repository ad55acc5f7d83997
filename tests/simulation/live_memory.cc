#include "live_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace nacre::simulation {
namespace {

std::atomic<std::int64_t> live = 0;

}  // namespace

std::int64_t live_bytes() { return live; }

}  // namespace nacre::simulation

#ifndef __SANITIZE_ADDRESS__

// The other forms of operator new and delete call these.
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  nacre::simulation::live += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  nacre::simulation::live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

#endif
