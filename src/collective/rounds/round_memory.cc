#include "collective/rounds/round_memory.h"

#include "base/checked_cast.h"
#include "base/rounding.h"
#include "collective/rounds/coverage.h"

namespace nacre::collective {
namespace {

constexpr std::int64_t cache_line_bytes = 64;
constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t word_bytes = sizeof(RoundMemory::Word);

// The memory consists of: a cache line for writer() and last_call(); a line for each aggregator
// with its two words; for each rank a row with two words for each aggregator; the marks; the
// buffers.

std::int64_t row_bytes(const RoundLayout& layout) {
  return round_up(std::int64_t{layout.aggregator_count} * 2 * word_bytes, cache_line_bytes);
}

constexpr std::int64_t lines_begin = cache_line_bytes;

std::int64_t rows_begin(const RoundLayout& layout) {
  return lines_begin + layout.aggregator_count * cache_line_bytes;
}

std::int64_t marks_begin(const RoundLayout& layout) {
  return rows_begin(layout) + layout.rank_count * row_bytes(layout);
}

std::int64_t mark_words(const RoundLayout& layout) {
  return Coverage::words_needed(layout.cycle_bytes, 1);
}

std::int64_t marks_bytes(const RoundLayout& layout) {
  return round_up(mark_words(layout) * static_cast<std::int64_t>(sizeof(std::uint64_t)),
                  cache_line_bytes);
}

std::int64_t buffer_bytes(const RoundLayout& layout) {
  return round_up(layout.cycle_bytes, page_bytes);
}

std::int64_t slots_of(const RoundLayout& layout) {
  return std::int64_t{layout.aggregator_count} * layout.slot_count;
}

}  // namespace

std::int64_t RoundMemory::control_bytes(const RoundLayout& layout) {
  return round_up(marks_begin(layout) + slots_of(layout) * marks_bytes(layout), page_bytes);
}

std::int64_t RoundMemory::bytes_needed(const RoundLayout& layout) {
  return control_bytes(layout) + slots_of(layout) * buffer_bytes(layout);
}

RoundMemory::RoundMemory(std::span<std::byte> memory, const RoundLayout& layout)
    : memory_(memory), layout_(layout) {
  static_assert(Word::is_always_lock_free);
}

std::byte* RoundMemory::buffer(int aggregator, std::int64_t round) const {
  return memory_.data() + control_bytes(layout_) +
         slot_number(aggregator, round) * buffer_bytes(layout_);
}

std::span<std::uint64_t> RoundMemory::marks(int aggregator, std::int64_t round) const {
  std::byte* const begin =
      memory_.data() + marks_begin(layout_) + slot_number(aggregator, round) * marks_bytes(layout_);
  return {reinterpret_cast<std::uint64_t*>(begin), checked_cast<std::size_t>(mark_words(layout_))};
}

RoundMemory::Word& RoundMemory::word(std::int64_t offset) const {
  return *reinterpret_cast<Word*>(memory_.data() + offset);
}

std::atomic<std::uint64_t>& RoundMemory::writer() const { return word(0); }

std::atomic<std::uint64_t>& RoundMemory::last_call() const { return word(word_bytes); }

RoundMemory::Word& RoundMemory::open_until(int aggregator) const {
  return word(lines_begin + aggregator * cache_line_bytes);
}

RoundMemory::Word& RoundMemory::filled_until(int aggregator) const {
  return word(lines_begin + aggregator * cache_line_bytes + word_bytes);
}

RoundMemory::Word& RoundMemory::placed_until(int rank, int aggregator) const {
  return word(rows_begin(layout_) + rank * row_bytes(layout_) +
              std::int64_t{aggregator} * 2 * word_bytes);
}

RoundMemory::Word& RoundMemory::taken_until(int rank, int aggregator) const {
  return word(rows_begin(layout_) + rank * row_bytes(layout_) + (aggregator * 2 + 1) * word_bytes);
}

}  // namespace nacre::collective
