// A sparse array of bytes: what a file in memory holds.
#ifndef NACRE_TESTING_SPARSE_BYTES_H_
#define NACRE_TESTING_SPARSE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace nacre::testing {

/// Bytes never written are zero and take no memory, in blocks. Not thread-safe.
class SparseBytes {
 public:
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Truncates or extends; what is cut off reads as zeros when the size grows again.
  void resize(std::int64_t size);
  /// Copies from `offset` on, to the end at most; returns how many bytes.
  std::int64_t read(std::span<std::byte> to, std::int64_t offset) const;
  /// Extends the size where the bytes go past it.
  void write(std::span<const std::byte> from, std::int64_t offset);

 private:
  static constexpr std::int64_t block_bytes = 64 << 10;

  std::int64_t size_ = 0;
  std::map<std::int64_t, std::vector<std::byte>> blocks_;  // by offset / block_bytes
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_SPARSE_BYTES_H_
