#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nacre::bench {

/// The byte that a file must hold at `file_offset`. It depends on the offset, so that the checks
/// find misplaced data, and on `seed`, so that they find data of an earlier repeat.
[[nodiscard]] std::byte pattern_byte(std::int64_t file_offset, std::uint64_t seed);

/// Fills `bytes` with the bytes that the file must hold from `file_offset` on.
void fill_pattern(std::span<std::byte> bytes, std::int64_t file_offset, std::uint64_t seed);

struct Mismatch {
  std::int64_t first_offset = 0;
  std::int64_t wrong_bytes = 0;
};

/// Compares every byte of `bytes` with the pattern; nullopt if all are right.
[[nodiscard]] std::optional<Mismatch> check_pattern(std::span<const std::byte> bytes,
                                                    std::int64_t file_offset, std::uint64_t seed);

}  // namespace nacre::bench
