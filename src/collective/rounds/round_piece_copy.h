// Marks the pieces of a round and copies them to or from the cycle buffer.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_PIECE_COPY_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_PIECE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/rounds/coverage.h"
#include "collective/rounds/exchange_access.h"
#include "plan/domains/domain_walk.h"
#include "plan/types/run_cursor.h"

namespace nacre::collective {

/// Reads may mark more than they request: the page cache reads whole pages anyway.
constexpr std::int64_t read_granule_bytes = 4096;

/// Marks the bytes of `piece` of `view` as requested or filled; gaps of at most `bridged_bytes`
/// between them may be marked too.
void mark_piece(Coverage& coverage, const plan::TiledMap& view, const plan::RoundPiece& piece,
                std::int64_t bridged_bytes);

// Between the memory of `access` and the cycle buffer. The piece is of the view of `access`.
/// For a write. Also marks the piece.
void copy_in_piece(const ExchangeAccess& access, const plan::RoundPiece& piece, std::byte* buffer,
                   Coverage& coverage);
/// For a read.
void copy_out_piece(const ExchangeAccess& access, const plan::RoundPiece& piece, std::byte* buffer);

// Between the cycle buffer and a message, which holds the bytes of one rank's pieces, in order.
using Pieces = std::span<const plan::RoundPiece>;
void pack_pieces(const plan::TiledMap& view, Pieces pieces, std::byte* buffer,
                 std::span<std::byte> packed);
void unpack_pieces(const plan::TiledMap& view, Pieces pieces, std::span<const std::byte> packed,
                   std::byte* buffer);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_PIECE_COPY_H_
