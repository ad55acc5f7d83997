#include "collective/round_piece_copy.h"

namespace nacre::collective {
namespace {

/// The runs of a piece, by their places in the cycle buffer.
plan::RunCursor buffer_cursor(const plan::TiledMap& view, const plan::RoundPiece& piece) {
  return plan::RunCursor({view.type, view.origin - piece.origin}, piece.first_byte,
                         piece.byte_count);
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
  plan::RunCursor in_buffer = buffer_cursor(access.placed.view, piece);
  if (access.reads()) {
    plan::copy_runs(buffer, in_buffer, access.memory.base, in_memory, piece.byte_count);
  } else {
    plan::copy_runs(access.memory.base, in_memory, buffer, in_buffer, piece.byte_count);
  }
}

}  // namespace nacre::collective
