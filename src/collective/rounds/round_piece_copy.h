// What is done with a piece of a round: marked, and copied to or from the cycle buffer.
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

/// Marks of reads need no exact holes: a page is what the page cache reads anyway.
constexpr std::int64_t read_granule_bytes = 4096;

/// Of a round that is read in parts, gaps this short are read along: few enough bytes for a call of
/// its own to cost more, over a network far more. Of local files as well: what is asked for is
/// mostly there already, in the next node's pieces.
constexpr std::int64_t bridged_gap_bytes = 16 << 10;

/// The bytes of `piece` of `view` are wanted, or are filled; between them gaps of `bridged_bytes`
/// may be too.
void mark_piece(Coverage& coverage, const plan::TiledMap& view, const plan::RoundPiece& piece,
                std::int64_t bridged_bytes);

// Between the memory of `access`, whose view the piece is of, and the cycle buffer.
/// Writing: marks it too.
void copy_in_piece(const ExchangeAccess& access, const plan::RoundPiece& piece, std::byte* buffer,
                   Coverage& coverage);
/// Reading.
void copy_out_piece(const ExchangeAccess& access, const plan::RoundPiece& piece, std::byte* buffer);

// Between the cycle buffer and a message, which holds the bytes of one rank's pieces in order.
using Pieces = std::span<const plan::RoundPiece>;
void pack_pieces(const plan::TiledMap& view, Pieces pieces, std::byte* buffer,
                 std::span<std::byte> packed);
void unpack_pieces(const plan::TiledMap& view, Pieces pieces, std::span<const std::byte> packed,
                   std::byte* buffer);

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_PIECE_COPY_H_
