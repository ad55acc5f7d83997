#include "pattern.h"

#include <algorithm>
#include <cstring>

namespace nacre::bench {
namespace {

constexpr std::int64_t word_size = 8;

// The finaliser of splitmix64: neighbouring words differ in about half of their bits.
std::uint64_t pattern_word(std::int64_t index, std::uint64_t seed) {
  std::uint64_t x = static_cast<std::uint64_t>(index) + seed * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Calls visit(word, first byte in the word, position in the range, bytes) for each word that the
// range touches.
template <typename Visit>
void for_each_word(std::int64_t file_offset, std::size_t length, std::uint64_t seed, Visit visit) {
  std::size_t done = 0;
  while (done < length) {
    const std::int64_t offset = file_offset + static_cast<std::int64_t>(done);
    const auto within = static_cast<std::size_t>(offset % word_size);
    const std::size_t count = std::min(length - done, std::size_t{word_size} - within);
    visit(pattern_word(offset / word_size, seed), within, done, count);
    done += count;
  }
}

const std::byte* bytes_of(const std::uint64_t& word) {
  return reinterpret_cast<const std::byte*>(&word);
}

}  // namespace

std::byte pattern_byte(std::int64_t file_offset, std::uint64_t seed) {
  const std::uint64_t word = pattern_word(file_offset / word_size, seed);
  return bytes_of(word)[file_offset % word_size];
}

void fill_pattern(std::span<std::byte> bytes, std::int64_t file_offset, std::uint64_t seed) {
  for_each_word(file_offset, bytes.size(), seed,
                [&](std::uint64_t word, std::size_t within, std::size_t at, std::size_t count) {
                  std::memcpy(bytes.data() + at, bytes_of(word) + within, count);
                });
}

std::optional<Mismatch> check_pattern(std::span<const std::byte> bytes, std::int64_t file_offset,
                                      std::uint64_t seed) {
  Mismatch mismatch;
  for_each_word(file_offset, bytes.size(), seed,
                [&](std::uint64_t word, std::size_t within, std::size_t at, std::size_t count) {
                  if (std::memcmp(bytes.data() + at, bytes_of(word) + within, count) == 0) return;
                  for (std::size_t i = 0; i < count; ++i) {
                    if (bytes[at + i] == bytes_of(word)[within + i]) continue;
                    if (mismatch.wrong_bytes++ == 0) {
                      mismatch.first_offset = file_offset + static_cast<std::int64_t>(at + i);
                    }
                  }
                });
  if (mismatch.wrong_bytes == 0) return std::nullopt;
  return mismatch;
}

}  // namespace nacre::bench
