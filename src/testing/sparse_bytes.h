// SparseBytes: a sparse array of bytes, the contents of a file in memory.
#ifndef NACRE_TESTING_SPARSE_BYTES_H_
#define NACRE_TESTING_SPARSE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace nacre::testing {

/// Bytes that were never written are zero. Blocks without written bytes use no memory. Not
/// thread-safe.
class SparseBytes {
 public:
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Truncates or extends. Truncated bytes read as zeros if the size grows again.
  void resize(std::int64_t size);
  /// Copies bytes from `offset` on, up to the end. Returns the number of bytes.
  std::int64_t read(std::span<std::byte> to, std::int64_t offset) const;
  /// Writes bytes, and extends the size if they end after it.
  void write(std::span<const std::byte> from, std::int64_t offset);

 private:
  static constexpr std::int64_t block_bytes = 64 << 10;

  std::int64_t size_ = 0;
  std::map<std::int64_t, std::vector<std::byte>> blocks_;  // by offset / block_bytes
};

}  // namespace nacre::testing

#endif  // NACRE_TESTING_SPARSE_BYTES_H_
