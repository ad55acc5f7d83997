#include "collective/user_side.h"

#include "base/checked_cast.h"

namespace nacre::collective {

bool UserSide::step() {
  bool moved = false;
  while (!done()) {
    if (!messages_.empty()) {
      if (!transport_.test(messages_)) return moved;
      messages_.clear();
      finish_round();
    }
    if (!aggregators_.empty()) start_round();
    moved = true;
  }
  return moved;
}

void UserSide::start_round() {
  const PhaseScope scope(access_.profiler, Phase::copy);
  aggregators_.take(aggregators_.next_round(), share_);
  places_.begin(share_);
  const std::size_t count = share_.parts.size();
  for (std::size_t i = 0; i < count; ++i) places_.place(i, in_memory(share_.parts[i]));
  places_.stage(0, count);
  for (std::size_t i = 0; i < count; ++i) {
    const RoundPart& part = share_.parts[i];
    const std::span<std::byte> message = places_.message(i);
    if (access_.reads()) {
      messages_.push_back(transport_.receive(part.rank, message));
    } else {
      if (places_.is_packed(i)) pack(part, message);
      messages_.push_back(transport_.send(part.rank, message));
    }
  }
}

void UserSide::finish_round() {
  if (!access_.reads()) return;
  const PhaseScope scope(access_.profiler, Phase::copy);
  for (std::size_t i = 0; i < share_.parts.size(); ++i) {
    if (places_.is_packed(i)) unpack(share_.parts[i], places_.message(i));
  }
}

std::span<std::byte> UserSide::in_memory(const RoundPart& part) const {
  const std::span<const plan::RoundPiece> pieces = share_.pieces_of(part);
  const plan::RoundPiece& last = pieces.back();
  const std::int64_t first_byte = pieces.front().first_byte;
  if (last.first_byte + last.byte_count - first_byte != part.bytes) return {};
  const plan::TiledMap layout{access_.memory.type, 0};
  plan::RunCursor cursor(layout, access_.memory_position(first_byte), part.bytes);
  const plan::RunGroup run = cursor.next();
  if (run.count != 1 || run.length != part.bytes) return {};
  return {access_.memory.base + run.offset, checked_cast<std::size_t>(part.bytes)};
}

void UserSide::pack(const RoundPart& part, std::span<std::byte> packed) const {
  access_.profiler.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
    const auto size = checked_cast<std::size_t>(piece.byte_count);
    plan::pack(access_.memory, access_.memory_position(piece.first_byte), packed.first(size));
    packed = packed.subspan(size);
  }
}

void UserSide::unpack(const RoundPart& part, std::span<const std::byte> packed) const {
  access_.profiler.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
    const auto size = checked_cast<std::size_t>(piece.byte_count);
    plan::unpack(access_.memory, access_.memory_position(piece.first_byte), packed.first(size));
    packed = packed.subspan(size);
  }
}

}  // namespace nacre::collective
