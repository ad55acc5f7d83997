#include "collective/rounds/coverage.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/checked_cast.h"

namespace nacre::collective {

namespace {

/// std::popcount would call a library function, as not all processors have the instruction.
std::uint64_t ones_in(std::uint64_t word) {
  constexpr std::uint64_t each = 0x0101010101010101;  // byte
  word -= (word >> 1U) & (each * 0x55);
  word = (word & (each * 0x33)) + ((word >> 2U) & (each * 0x33));
  word = (word + (word >> 4U)) & (each * 0x0f);
  return word * each >> 56U;
}

template <class Visit>
void for_each_run(const Coverage& marked, Visit visit) {
  for (Extent run = marked.next(0); !run.empty(); run = marked.next(run.end())) visit(run);
}

}  // namespace

Coverage::Coverage(std::span<std::uint64_t> words, std::int64_t size, std::int64_t granule_bytes,
                   Markers markers)
    : words_(words.first(checked_cast<std::size_t>(words_needed(size, granule_bytes)))),
      size_(size),
      granules_(divide_up(size, granule_bytes)),
      granule_shift_(std::countr_zero(static_cast<std::uint64_t>(granule_bytes))),
      several_(markers == Markers::several) {}

void Coverage::set(std::size_t word, std::uint64_t bits) {
  using Word = std::atomic_ref<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  if (several_) {
    Word(words_[word]).fetch_or(bits, std::memory_order_relaxed);
  } else {
    words_[word] |= bits;
  }
}

void Coverage::mark(const Extent& bytes) {
  if (bytes.empty()) return;
  const std::uint64_t first = static_cast<std::uint64_t>(bytes.offset) >> granule_shift_;
  const std::uint64_t last = static_cast<std::uint64_t>(bytes.end() - 1) >> granule_shift_;
  const std::size_t first_word = first / word_bits;
  const std::size_t last_word = last / word_bits;
  const std::uint64_t from_first = ~std::uint64_t{0} << (first % word_bits);
  const std::uint64_t to_last = ~std::uint64_t{0} >> (word_bits - 1 - last % word_bits);
  if (first_word == last_word) return set(first_word, from_first & to_last);
  set(first_word, from_first);
  for (std::size_t word = first_word + 1; word < last_word; ++word) {
    std::atomic_ref(words_[word]).store(~std::uint64_t{0}, std::memory_order_relaxed);
  }
  set(last_word, to_last);
}

void Coverage::mark(const plan::RunSeries& series, std::int64_t bridged_bytes) {
  const std::int64_t gap = series.stride - series.length;
  if (series.count > 1 && gap >= 0 && gap <= bridged_bytes) {
    mark({series.offset, (series.count - 1) * series.stride + series.length});
    return;
  }
  for (std::int64_t i = 0; i < series.count; ++i) {
    mark({series.offset + i * series.stride, series.length});
  }
}

void Coverage::mark(const Coverage& marks, std::int64_t first) {
  const auto first_word = static_cast<std::size_t>(first / word_bits);
  for (std::size_t word = 0; word < marks.words_.size(); ++word) {
    if (marks.words_[word] != 0) set(first_word + word, marks.words_[word]);
  }
}

Extent Coverage::next(std::int64_t from) const {
  if (from >= size_) return {size_, 0};
  const std::int64_t first = find(from >> granule_shift_, true);
  if (first == granules_) return {size_, 0};
  const std::int64_t begin = std::max(from, first << granule_shift_);
  const std::int64_t end = std::min(size_, find(first, false) << granule_shift_);
  return {begin, end - begin};
}

Extent Coverage::hull() const {
  const std::int64_t first = find(0, true);
  if (first == granules_) return {};
  std::size_t word = words_.size() - 1;
  while (words_[word] == 0) --word;
  const std::int64_t behind_last =
      static_cast<std::int64_t>(word + 1) * word_bits - std::countl_zero(words_[word]);
  const std::int64_t begin = first << granule_shift_;
  return {begin, std::min(size_, behind_last << granule_shift_) - begin};
}

std::int64_t Coverage::count() const {
  std::uint64_t marked = 0;
  for (const std::uint64_t word : words_) marked += ones_in(word);
  return static_cast<std::int64_t>(marked);
}

std::int64_t Coverage::find(std::int64_t from, bool marked) const {
  if (from >= granules_) return granules_;
  const std::uint64_t flip = marked ? 0 : ~std::uint64_t{0};
  const auto granule = static_cast<std::uint64_t>(from);
  std::size_t word = granule / word_bits;
  std::uint64_t bits = (words_[word] ^ flip) & (~std::uint64_t{0} << (granule % word_bits));
  while (bits == 0) {
    if (++word == words_.size()) return granules_;
    bits = words_[word] ^ flip;
  }
  return std::min(granules_, static_cast<std::int64_t>(word) * word_bits + std::countr_zero(bits));
}

void Coverage::clear(std::int64_t bytes) {
  std::fill_n(words_.begin(), words_needed(bytes, std::int64_t{1} << granule_shift_),
              std::uint64_t{0});
}

MarkedRuns measure(const Coverage& marked) { return {marked.hull(), marked.count()}; }

void pack_marked(const Coverage& marked, const std::byte* buffer, std::span<std::byte> packed) {
  for_each_run(marked, [&](const Extent& run) {
    std::copy_n(buffer + run.offset, run.length, packed.begin());
    packed = packed.subspan(checked_cast<std::size_t>(run.length));
  });
}

void unpack_marked(const Coverage& marked, std::byte* buffer, std::span<const std::byte> packed) {
  for_each_run(marked, [&](const Extent& run) {
    std::copy_n(packed.begin(), run.length, buffer + run.offset);
    packed = packed.subspan(checked_cast<std::size_t>(run.length));
  });
}

}  // namespace nacre::collective
