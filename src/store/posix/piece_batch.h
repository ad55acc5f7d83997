// Splits scatter/gather pieces into batches for single readv or writev calls.
#ifndef NACRE_STORE_POSIX_PIECE_BATCH_H_
#define NACRE_STORE_POSIX_PIECE_BATCH_H_

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/uio.h>

namespace nacre::store {

/// Linux moves at most this many bytes a call (MAX_RW_COUNT: 2 GiB less a page, read(2)).
inline constexpr std::int64_t call_bytes_max = 0x7ffff000;
inline constexpr std::size_t call_pieces_max = IOV_MAX;

/// Iterates over `pieces` (ReadPiece or WritePiece), which must outlive it. Skips empty pieces.
template <class Piece>
class PieceBatch {
 public:
  explicit PieceBatch(std::span<const Piece> pieces) : pieces_(pieces) {}

  /// The batch for the next call; empty at the end. Valid until next() is called again.
  [[nodiscard]] std::span<const iovec> next() {
    std::size_t count = 0;
    std::int64_t room = call_bytes_max;
    std::int64_t skip = skip_;
    for (std::size_t i = first_; i < pieces_.size() && count < vectors_.size() && room > 0; ++i) {
      const std::int64_t size = std::min(pieces_[i].size - skip, room);
      if (size > 0) {
        auto* start = const_cast<std::byte*>(pieces_[i].data) + skip;  // iovec knows no const
        vectors_[count++] = {start, static_cast<std::size_t>(size)};
        room -= size;
      }
      skip = 0;
    }
    return {vectors_.data(), count};
  }

  /// Call after `bytes` of the batch were moved.
  void advance(std::int64_t bytes) {
    skip_ += bytes;
    while (first_ < pieces_.size() && skip_ >= pieces_[first_].size) {
      skip_ -= pieces_[first_++].size;
    }
  }

 private:
  std::span<const Piece> pieces_;
  std::size_t first_ = 0;                       ///< the piece that the next call begins in
  std::int64_t skip_ = 0;                       ///< bytes of it that are moved
  std::array<iovec, call_pieces_max> vectors_;  // uninitialised: saves 16 KiB of writes per call
};

}  // namespace nacre::store

#endif  // NACRE_STORE_POSIX_PIECE_BATCH_H_
