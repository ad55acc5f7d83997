#include "heap_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <malloc.h>

extern "C" {
// The functions of glibc, under the names that it provides for replacements of malloc.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace nacre::bench {
namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

void* count_allocated(void* block) {
  if (block == nullptr) return block;
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
  return block;
}

void count_freed(void* block) {
  if (block == nullptr) return;
  live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

}  // namespace

Heap heap() { return {live.load(std::memory_order_relaxed), peak.load(std::memory_order_relaxed)}; }

void reset_heap_peak() {
  peak.store(live.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace nacre::bench

extern "C" {

void* malloc(std::size_t size) { return nacre::bench::count_allocated(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) {
  return nacre::bench::count_allocated(__libc_calloc(count, size));
}

void* realloc(void* old, std::size_t size) {
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  void* block = __libc_realloc(old, size);
  if (block != nullptr || size == 0) {
    nacre::bench::live.fetch_sub(static_cast<std::int64_t>(before), std::memory_order_relaxed);
  }
  return nacre::bench::count_allocated(block);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return nacre::bench::count_allocated(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  void* result = memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *block = result;
  return 0;
}

void free(void* block) {
  nacre::bench::count_freed(block);
  __libc_free(block);
}
}
