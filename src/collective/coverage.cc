#include "collective/coverage.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/checked_cast.h"

namespace nacre::collective {

Coverage::Coverage(std::span<std::uint64_t> words, std::int64_t size, std::int64_t granule_bytes)
    : words_(words.first(checked_cast<std::size_t>(words_needed(size, granule_bytes)))),
      size_(size),
      granule_bytes_(granule_bytes),
      granules_(divide_up(size, granule_bytes)) {}

void Coverage::mark(const Extent& bytes) {
  using Word = std::atomic_ref<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  if (bytes.empty()) return;
  const std::int64_t first = bytes.offset / granule_bytes_;
  const std::int64_t last = (bytes.end() - 1) / granule_bytes_;
  const auto first_word = static_cast<std::size_t>(first / word_bits);
  const auto last_word = static_cast<std::size_t>(last / word_bits);
  const std::uint64_t from_first = ~std::uint64_t{0} << (first % word_bits);
  const std::uint64_t to_last = ~std::uint64_t{0} >> (word_bits - 1 - last % word_bits);
  if (first_word == last_word) {
    Word(words_[first_word]).fetch_or(from_first & to_last, std::memory_order_relaxed);
    return;
  }
  Word(words_[first_word]).fetch_or(from_first, std::memory_order_relaxed);
  for (std::size_t word = first_word + 1; word < last_word; ++word) {
    Word(words_[word]).store(~std::uint64_t{0}, std::memory_order_relaxed);
  }
  Word(words_[last_word]).fetch_or(to_last, std::memory_order_relaxed);
}

void Coverage::mark(const plan::RunGroup& group, std::int64_t bridged_bytes) {
  const std::int64_t gap = group.stride - group.length;
  if (group.count > 1 && gap >= 0 && gap <= bridged_bytes) {
    mark({group.offset, (group.count - 1) * group.stride + group.length});
    return;
  }
  for (std::int64_t i = 0; i < group.count; ++i) {
    mark({group.offset + i * group.stride, group.length});
  }
}

Extent Coverage::next(std::int64_t from) const {
  if (from >= size_) return {size_, 0};
  const std::int64_t first = find(from / granule_bytes_, true);
  if (first == granules_) return {size_, 0};
  const std::int64_t begin = std::max(from, first * granule_bytes_);
  const std::int64_t end = std::min(size_, find(first, false) * granule_bytes_);
  return {begin, end - begin};
}

Extent Coverage::hull() const {
  const std::int64_t first = find(0, true);
  if (first == granules_) return {};
  std::size_t word = words_.size() - 1;
  while (words_[word] == 0) --word;
  const std::int64_t behind_last =
      static_cast<std::int64_t>(word + 1) * word_bits - std::countl_zero(words_[word]);
  const std::int64_t begin = first * granule_bytes_;
  return {begin, std::min(size_, behind_last * granule_bytes_) - begin};
}

std::int64_t Coverage::count() const {
  std::int64_t marked = 0;
  for (const std::uint64_t word : words_) marked += std::popcount(word);
  return marked;
}

std::int64_t Coverage::find(std::int64_t from, bool marked) const {
  if (from >= granules_) return granules_;
  const std::uint64_t flip = marked ? 0 : ~std::uint64_t{0};
  auto word = static_cast<std::size_t>(from / word_bits);
  std::uint64_t bits = (words_[word] ^ flip) & (~std::uint64_t{0} << (from % word_bits));
  while (bits == 0) {
    if (static_cast<std::int64_t>(++word) * word_bits >= granules_) return granules_;
    bits = words_[word] ^ flip;
  }
  return std::min(granules_, static_cast<std::int64_t>(word) * word_bits + std::countr_zero(bits));
}

void Coverage::clear(std::int64_t bytes) {
  std::fill_n(words_.begin(), words_needed(bytes, granule_bytes_), std::uint64_t{0});
}

}  // namespace nacre::collective
