// RoundCopies: how the bytes of rounds come into cycle buffers and messages, and out of them.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_COPIES_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_COPIES_H_

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

/// The copies that a rank makes in an exchange. This class makes them at once. A simulation derives
/// from it, so that copies take time: a call may block, and the bytes are in place when it returns.
class RoundCopies {
 public:
  using Pieces = std::span<const plan::RoundPiece>;
  virtual ~RoundCopies() = default;

  // Between the memory of `access` and the cycle buffer. The piece is of the view of `access`.
  /// For a write. Also marks the piece.
  virtual void copy_in(const ExchangeAccess& access, const plan::RoundPiece& piece,
                       std::byte* buffer, Coverage& coverage);
  /// For a read.
  virtual void copy_out(const ExchangeAccess& access, const plan::RoundPiece& piece,
                        std::byte* buffer);

  // Between the memory of `access` and a message, which holds the bytes of its pieces, in order.
  virtual void gather(const ExchangeAccess& access, Pieces pieces, std::span<std::byte> packed);
  virtual void scatter(const ExchangeAccess& access, Pieces pieces,
                       std::span<const std::byte> packed);

  // Between the cycle buffer and a message, which holds the bytes of one rank's pieces, in order.
  virtual void pack(const plan::TiledMap& view, Pieces pieces, std::byte* buffer,
                    std::span<std::byte> packed);
  virtual void unpack(const plan::TiledMap& view, Pieces pieces, std::span<const std::byte> packed,
                      std::byte* buffer);

  // Between the cycle buffer and a message, which holds the marked bytes, in order. A granule is a
  // byte.
  virtual void pack(const Coverage& marked, const std::byte* buffer, std::span<std::byte> packed);
  virtual void unpack(const Coverage& marked, std::byte* buffer, std::span<const std::byte> packed);
};

/// The copies of all ranks of this process.
[[nodiscard]] RoundCopies& immediate_copies();

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_COPIES_H_
