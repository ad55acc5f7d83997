// FNV hash. Unlike std::hash, it is the same in every build and on every rank.
#ifndef NACRE_BASE_FNV_HASH_H_
#define NACRE_BASE_FNV_HASH_H_

#include <cstdint>
#include <string_view>

namespace nacre {

/// FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t fnv_hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char character : text) {
    value ^= static_cast<unsigned char>(character);
    value *= 0x100000001b3;
  }
  return value;
}

}  // namespace nacre

#endif  // NACRE_BASE_FNV_HASH_H_
