#include "rank_heap.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include <malloc.h>

namespace nacre::bench {
namespace {

RankHeap* counted = nullptr;

void count(void* block, int sign) {
  if (counted == nullptr || block == nullptr) return;
  counted->add(sign * static_cast<std::int64_t>(malloc_usable_size(block)));
}

}  // namespace

RankHeap::Scope::Scope(RankHeap& rank) { counted = &rank; }
RankHeap::Scope::~Scope() { counted = nullptr; }
RankHeap::Pause::Pause() : paused_(std::exchange(counted, nullptr)) {}
RankHeap::Pause::~Pause() { counted = paused_; }

}  // namespace nacre::bench

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  nacre::bench::count(block, 1);
  return block;
}

void operator delete(void* block) noexcept {
  nacre::bench::count(block, -1);
  std::free(block);
}

void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }
