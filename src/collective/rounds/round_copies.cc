#include "collective/rounds/round_copies.h"

#include <utility>

#include "base/checked_cast.h"
#include "plan/types/memory_access.h"
#include "plan/types/strided_copy.h"

namespace nacre::collective {
namespace {

/// The runs of a piece, by their places in the cycle buffer.
plan::RunCursor buffer_cursor(const plan::TiledMap& view, const plan::RoundPiece& piece) {
  return plan::RunCursor({view.type, view.origin - piece.origin}, piece.first_byte,
                         piece.byte_count);
}

/// The same as a memory access; the piece are its data bytes from piece.first_byte on.
plan::MemoryAccess memory_of(const plan::TiledMap& view, const plan::RoundPiece& piece,
                             std::byte* buffer) {
  return {plan::at(buffer, view.origin - piece.origin), view.type,
          piece.first_byte + piece.byte_count};
}

/// Calls `copy` with each piece and its bytes in `packed`.
template <class Byte, class Copy>
void for_each_part(RoundCopies::Pieces pieces, std::span<Byte> packed, const Copy& copy) {
  for (const plan::RoundPiece& piece : pieces) {
    const auto bytes = checked_cast<std::size_t>(piece.byte_count);
    copy(piece, packed.first(bytes));
    packed = packed.subspan(bytes);
  }
}

}  // namespace

void mark_piece(Coverage& coverage, const plan::TiledMap& view, const plan::RoundPiece& piece,
                std::int64_t bridged_bytes) {
  plan::RunCursor cursor = buffer_cursor(view, piece);
  for (plan::RunSeries series = cursor.next(); series.count > 0; series = cursor.next()) {
    coverage.mark(series, bridged_bytes);
  }
}

void RoundCopies::copy_in(const ExchangeAccess& access, const plan::RoundPiece& piece,
                          std::byte* buffer, Coverage& coverage) {
  const std::int64_t position = access.memory_position(piece.first_byte);
  const plan::TypeMap& memory = access.memory.type;
  plan::RunCursor in_buffer = buffer_cursor(access.placed.view, piece);
  if (!memory.is_contiguous()) {
    mark_piece(coverage, access.placed.view, piece, 0);
    plan::RunCursor in_memory({memory, 0}, position, piece.byte_count);
    plan::copy_runs(access.memory.base, in_memory, buffer, in_buffer, piece.byte_count);
    return;
  }
  const std::byte* from = plan::at(access.memory.base, memory.true_lb() + position);
  plan::for_each_row(std::move(in_buffer), [&](const plan::RunSeries& row) {
    coverage.mark(row, 0);
    plan::copy_strided({from, row.length}, {buffer + row.offset, row.stride}, row.length,
                       row.count);
    from += row.bytes();
  });
}

void RoundCopies::copy_out(const ExchangeAccess& access, const plan::RoundPiece& piece,
                           std::byte* buffer) {
  plan::RunCursor in_memory({access.memory.type, 0}, access.memory_position(piece.first_byte),
                            piece.byte_count);
  plan::RunCursor in_buffer = buffer_cursor(access.placed.view, piece);
  plan::copy_runs(buffer, in_buffer, access.memory.base, in_memory, piece.byte_count);
}

void RoundCopies::gather(const ExchangeAccess& access, Pieces pieces, std::span<std::byte> packed) {
  for_each_part(pieces, packed, [&](const plan::RoundPiece& piece, std::span<std::byte> part) {
    plan::pack(access.memory, access.memory_position(piece.first_byte), part);
  });
}

void RoundCopies::scatter(const ExchangeAccess& access, Pieces pieces,
                          std::span<const std::byte> packed) {
  for_each_part(pieces, packed,
                [&](const plan::RoundPiece& piece, std::span<const std::byte> part) {
                  plan::unpack(access.memory, access.memory_position(piece.first_byte), part);
                });
}

void RoundCopies::pack(const plan::TiledMap& view, Pieces pieces, std::byte* buffer,
                       std::span<std::byte> packed) {
  for_each_part(pieces, packed, [&](const plan::RoundPiece& piece, std::span<std::byte> part) {
    plan::pack(memory_of(view, piece, buffer), piece.first_byte, part);
  });
}

void RoundCopies::unpack(const plan::TiledMap& view, Pieces pieces,
                         std::span<const std::byte> packed, std::byte* buffer) {
  for_each_part(pieces, packed,
                [&](const plan::RoundPiece& piece, std::span<const std::byte> part) {
                  plan::unpack(memory_of(view, piece, buffer), piece.first_byte, part);
                });
}

void RoundCopies::pack(const Coverage& marked, const std::byte* buffer,
                       std::span<std::byte> packed) {
  pack_marked(marked, buffer, packed);
}

void RoundCopies::unpack(const Coverage& marked, std::byte* buffer,
                         std::span<const std::byte> packed) {
  unpack_marked(marked, buffer, packed);
}

RoundCopies& immediate_copies() {
  static RoundCopies instance;
  return instance;
}

}  // namespace nacre::collective
