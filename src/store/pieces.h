// Sizes and sublists of lists of pieces.
#ifndef NACRE_STORE_PIECES_H_
#define NACRE_STORE_PIECES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "store/store.h"

namespace nacre::store {

/// The sum of the sizes of `pieces` (ReadPiece or WritePiece).
template <class Piece>
[[nodiscard]] std::int64_t total_bytes(std::span<const Piece> pieces) {
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size;
  return bytes;
}

/// The first `bytes` bytes of `pieces`.
template <class Piece>
[[nodiscard]] std::vector<Piece> first_pieces(std::span<const Piece> pieces, std::int64_t bytes) {
  std::vector<Piece> first;
  for (const Piece& piece : pieces) {
    const std::int64_t size = std::min(piece.size, bytes);
    if (size > 0) first.push_back({piece.data, size});
    bytes -= size;
  }
  return first;
}

/// `pieces` without their first `bytes` bytes.
template <class Piece>
[[nodiscard]] std::vector<Piece> pieces_behind(std::span<const Piece> pieces, std::int64_t bytes) {
  std::vector<Piece> left;
  for (const Piece& piece : pieces) {
    const std::int64_t skipped = std::min(bytes, piece.size);
    bytes -= skipped;
    if (skipped < piece.size) left.push_back({piece.data + skipped, piece.size - skipped});
  }
  return left;
}

}  // namespace nacre::store

#endif  // NACRE_STORE_PIECES_H_
