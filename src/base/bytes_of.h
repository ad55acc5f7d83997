// bytes_of: a value as bytes, for use as a message buffer.
#ifndef NACRE_BASE_BYTES_OF_H_
#define NACRE_BASE_BYTES_OF_H_

#include <cstddef>
#include <span>
#include <type_traits>

namespace nacre {

template <class T>
[[nodiscard]] std::span<std::byte> bytes_of(T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_writable_bytes(std::span<T>(&value, 1));
}

}  // namespace nacre

#endif  // NACRE_BASE_BYTES_OF_H_
