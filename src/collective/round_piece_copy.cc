#include "collective/round_piece_copy.h"

#include <utility>

namespace nacre::collective {
namespace {

/// The runs of a piece, by their places in the cycle buffer.
plan::RunCursor buffer_cursor(const plan::TiledMap& view, const plan::RoundPiece& piece) {
  return plan::RunCursor({view.type, view.origin - piece.origin}, piece.first_byte,
                         piece.byte_count);
}

/// Bytes of memory, and the layout of a piece's data in it.
struct Place {
  std::byte* base;
  plan::RunCursor cursor;
};

void copy(plan::Direction direction, Place buffer, Place user, std::int64_t byte_count) {
  if (direction == plan::Direction::read) {
    plan::copy_runs(buffer.base, buffer.cursor, user.base, user.cursor, byte_count);
  } else {
    plan::copy_runs(user.base, user.cursor, buffer.base, buffer.cursor, byte_count);
  }
}

}  // namespace

void mark_piece(Coverage& coverage, const plan::TiledMap& view, const plan::RoundPiece& piece,
                std::int64_t bridged_bytes) {
  plan::RunCursor cursor = buffer_cursor(view, piece);
  for (plan::RunGroup group = cursor.next(); group.count > 0; group = cursor.next()) {
    coverage.mark(group, bridged_bytes);
  }
}

void copy_piece(const ExchangeAccess& access, const plan::RoundPiece& piece, std::byte* buffer) {
  const plan::TiledMap memory{access.memory.type, 0};
  plan::RunCursor in_memory(memory, access.memory_position(piece.first_byte), piece.byte_count);
  copy(access.direction, {buffer, buffer_cursor(access.placed.view, piece)},
       {access.memory.base, std::move(in_memory)}, piece.byte_count);
}

void copy_packed_piece(plan::Direction direction, const plan::TiledMap& view,
                       const plan::RoundPiece& piece, std::byte* buffer, std::byte* packed) {
  plan::RunCursor in_message({plan::TypeMap::bytes(piece.byte_count), 0}, 0, piece.byte_count);
  copy(direction, {buffer, buffer_cursor(view, piece)}, {packed, std::move(in_message)},
       piece.byte_count);
}

}  // namespace nacre::collective
