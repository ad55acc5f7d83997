#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nacre::bench {

/// The byte that a file must hold at an offset, so that data put in the wrong place is seen
/// wherever it lands. `seed` makes the bytes of one repeat differ from those of the one before.
[[nodiscard]] std::byte pattern_byte(std::int64_t file_offset, std::uint64_t seed);

/// What the file must hold from `file_offset` on.
void fill_pattern(std::span<std::byte> bytes, std::int64_t file_offset, std::uint64_t seed);

struct Mismatch {
  std::int64_t first_offset = 0;
  std::int64_t wrong_bytes = 0;
};

/// Compares every byte.
[[nodiscard]] std::optional<Mismatch> check_pattern(std::span<const std::byte> bytes,
                                                    std::int64_t file_offset, std::uint64_t seed);

}  // namespace nacre::bench
