#include "collective/domain_side.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked_cast.h"

namespace nacre::collective {
namespace {

/// From the first to the last byte of a part, in the cycle buffer; the part fills it if it has as
/// many bytes, since views are monotone.
Extent hull_of(const RoundShare& share, const RoundPart& part) {
  const std::span<const plan::RoundPiece> pieces = share.pieces_of(part);
  const plan::RoundPiece& first = pieces.front();
  const plan::RoundPiece& last = pieces.back();
  const std::int64_t last_byte = last.first_byte + last.byte_count - 1;
  const std::int64_t begin = plan::offset_of(*part.view, first.first_byte) - first.origin;
  const std::int64_t end = plan::offset_of(*part.view, last_byte) - last.origin + 1;
  return {begin, end - begin};
}

plan::RunCursor packed_cursor(std::int64_t byte_count) {
  return plan::RunCursor({plan::TypeMap::bytes(byte_count), 0}, 0, byte_count);
}

}  // namespace

DomainSide::DomainSide(Transport& transport, const TwoPhaseAccess& access, RoundQueue sources,
                       CycleBuffer& buffer, std::int64_t round_bytes_max)
    : transport_(transport),
      access_(access),
      sources_(std::move(sources)),
      buffer_(buffer),
      staging_bytes_max_(round_bytes_max) {}

void DomainSide::start_writing(std::int64_t round) {
  round_ = round;
  sources_.take(round, share_);
  places_.begin(share_, transport_.rank());
  place_disjoint_parts();
  last_ = 0;
  receive_portion();
}

void DomainSide::receive_portion() {
  first_ = last_;
  last_ = places_.portion_end(first_, staging_bytes_max_);
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    if (places_.is_own(i)) continue;
    messages_.push_back(transport_.receive(share_.parts[i].rank, places_.message(i)));
  }
}

bool DomainSide::fill() {
  for (std::size_t i = first_; i < last_; ++i) {
    const RoundPart& part = share_.parts[i];
    for (const plan::RoundPiece& piece : share_.pieces_of(part)) buffer_.mark(*part.view, piece);
    if (places_.is_own(i)) copy_own(part);
    if (places_.is_packed(i)) copy_packed(part, places_.message(i));
  }
  if (last_ == share_.parts.size()) return true;
  receive_portion();
  return false;
}

void DomainSide::end_writing() {
  if (!share_.parts.empty()) buffer_.write_round(round_);
}

void DomainSide::start_reading(std::int64_t round) {
  sources_.take(round, share_);
  places_.begin(share_, transport_.rank());
  last_ = 0;
  if (share_.parts.empty()) return;
  place_whole_parts();
  for (const RoundPart& part : share_.parts) {
    for (const plan::RoundPiece& piece : share_.pieces_of(part)) buffer_.mark(*part.view, piece);
  }
  buffer_.read_round(round);
}

bool DomainSide::send() {
  first_ = last_;
  last_ = places_.portion_end(first_, staging_bytes_max_);
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    const RoundPart& part = share_.parts[i];
    if (places_.is_own(i)) {
      copy_own(part);
      continue;
    }
    if (places_.is_packed(i)) copy_packed(part, places_.message(i));
    messages_.push_back(transport_.send(part.rank, places_.message(i)));
  }
  return last_ == share_.parts.size();
}

void DomainSide::place_disjoint_parts() {
  std::vector<Extent> hulls;
  for (const RoundPart& part : share_.parts) hulls.push_back(hull_of(share_, part));
  std::vector<std::size_t> order(hulls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return hulls[a].offset < hulls[b].offset; });
  std::int64_t end_before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t part = order[i];
    const Extent& hull = hulls[part];
    const bool alone = end_before <= hull.offset &&
                       (i + 1 == order.size() || hull.end() <= hulls[order[i + 1]].offset);
    if (alone && hull.length == share_.parts[part].bytes) places_.place(part, in_buffer(hull));
    end_before = std::max(end_before, hull.end());
  }
}

void DomainSide::place_whole_parts() {
  for (std::size_t i = 0; i < share_.parts.size(); ++i) {
    const Extent hull = hull_of(share_, share_.parts[i]);
    if (hull.length == share_.parts[i].bytes) places_.place(i, in_buffer(hull));
  }
}

void DomainSide::copy_own(const RoundPart& part) {
  access_.profiler.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
    plan::RunCursor in_buffer({part.view->type, part.view->origin - piece.origin}, piece.first_byte,
                              piece.byte_count);
    plan::RunCursor in_memory({access_.memory.type, 0}, access_.memory_position(piece.first_byte),
                              piece.byte_count);
    if (access_.reads()) {
      plan::copy_runs(buffer_.data(), in_buffer, access_.memory.base, in_memory, piece.byte_count);
    } else {
      plan::copy_runs(access_.memory.base, in_memory, buffer_.data(), in_buffer, piece.byte_count);
    }
  }
}

void DomainSide::copy_packed(const RoundPart& part, Bytes packed) {
  access_.profiler.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_.pieces_of(part)) {
    plan::RunCursor in_buffer({part.view->type, part.view->origin - piece.origin}, piece.first_byte,
                              piece.byte_count);
    plan::RunCursor in_message = packed_cursor(piece.byte_count);
    if (access_.reads()) {
      plan::copy_runs(buffer_.data(), in_buffer, packed.data(), in_message, piece.byte_count);
    } else {
      plan::copy_runs(packed.data(), in_message, buffer_.data(), in_buffer, piece.byte_count);
    }
    packed = packed.subspan(checked_cast<std::size_t>(piece.byte_count));
  }
}

DomainSide::Bytes DomainSide::in_buffer(const Extent& place) {
  return {buffer_.data() + place.offset, checked_cast<std::size_t>(place.length)};
}

}  // namespace nacre::collective
