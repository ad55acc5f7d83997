// Extent: a half-open range of bytes, {offset, length}, both 64-bit.
#ifndef NACRE_BASE_EXTENT_H_
#define NACRE_BASE_EXTENT_H_

#include <algorithm>
#include <cstdint>

namespace nacre {

/// The bytes [offset, offset + length). An extent of length 0 is empty, at any offset.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t length = 0;

  [[nodiscard]] constexpr std::int64_t end() const { return offset + length; }
  [[nodiscard]] constexpr bool empty() const { return length == 0; }
  [[nodiscard]] constexpr bool contains(std::int64_t position) const {
    return position >= offset && position < end();
  }
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// The common bytes of both extents. Without common bytes: an empty extent at the larger offset.
[[nodiscard]] constexpr Extent intersection(const Extent& a, const Extent& b) {
  const std::int64_t begin = std::max(a.offset, b.offset);
  return {begin, std::max<std::int64_t>(0, std::min(a.end(), b.end()) - begin)};
}

/// The smallest extent that contains both. Empty extents are ignored.
[[nodiscard]] constexpr Extent hull(const Extent& a, const Extent& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  const std::int64_t begin = std::min(a.offset, b.offset);
  return {begin, std::max(a.end(), b.end()) - begin};
}

}  // namespace nacre

#endif  // NACRE_BASE_EXTENT_H_
