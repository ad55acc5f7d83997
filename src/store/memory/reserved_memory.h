// ReservedMemory: much address space and little memory.
#ifndef NACRE_STORE_MEMORY_RESERVED_MEMORY_H_
#define NACRE_STORE_MEMORY_RESERVED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace nacre::store {

/// Zeros, whose pages are allocated when they are first written. Parts of it are handed out in
/// turn and never taken back. Not thread-safe.
class ReservedMemory {
 public:
  /// ErrorClass::no_mem if the system refuses so much address space.
  [[nodiscard]] static Result<ReservedMemory> reserve(std::int64_t bytes);
  ReservedMemory(ReservedMemory&& other) noexcept;
  ReservedMemory& operator=(ReservedMemory&& other) noexcept;
  ~ReservedMemory();

  /// The next `bytes`, page-aligned. ErrorClass::no_mem if they are not left.
  [[nodiscard]] Result<std::span<std::byte>> take(std::int64_t bytes);
  [[nodiscard]] bool contains(const std::byte* address) const {
    return address >= all_.data() && address < all_.data() + all_.size();
  }

 private:
  explicit ReservedMemory(std::span<std::byte> all) : all_(all), left_(all) {}

  std::span<std::byte> all_;
  std::span<std::byte> left_;
};

}  // namespace nacre::store

#endif  // NACRE_STORE_MEMORY_RESERVED_MEMORY_H_
