#include "collective/domain_messages.h"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.h"
#include "collective/round_piece_copy.h"

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

}  // namespace

void DomainMessages::begin(const RoundShare& share, std::byte* buffer) {
  share_ = &share;
  buffer_ = buffer;
  places_.begin(share);
  if (direction_ == plan::Direction::write) {
    place_disjoint_parts();
  } else {
    place_whole_parts();
  }
  last_ = 0;
  post_portion();
}

bool DomainMessages::step() {
  if (messages_.empty() || !transport_.test(messages_)) return false;
  messages_.clear();
  if (direction_ == plan::Direction::write) {
    const PhaseScope scope(profiler_, Phase::copy);
    for (std::size_t i = first_; i < last_; ++i) {
      if (places_.is_packed(i)) copy_packed(share_->parts[i], places_.message(i));
    }
  }
  post_portion();
  return true;
}

void DomainMessages::post_portion() {
  const PhaseScope scope(profiler_, Phase::copy);
  first_ = last_;
  last_ = places_.portion_end(first_, packed_bytes_max_);
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    const RoundPart& part = share_->parts[i];
    const Bytes message = places_.message(i);
    if (direction_ == plan::Direction::write) {
      messages_.push_back(transport_.receive(part.rank, message));
    } else {
      if (places_.is_packed(i)) copy_packed(part, message);
      messages_.push_back(transport_.send(part.rank, message));
    }
  }
}

void DomainMessages::place_disjoint_parts() {
  std::vector<Extent> hulls;
  for (const RoundPart& part : share_->parts) hulls.push_back(hull_of(*share_, part));
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
    if (alone && hull.length == share_->parts[part].bytes) places_.place(part, in_buffer(hull));
    end_before = std::max(end_before, hull.end());
  }
}

void DomainMessages::place_whole_parts() {
  for (std::size_t i = 0; i < share_->parts.size(); ++i) {
    const Extent hull = hull_of(*share_, share_->parts[i]);
    if (hull.length == share_->parts[i].bytes) places_.place(i, in_buffer(hull));
  }
}

void DomainMessages::copy_packed(const RoundPart& part, Bytes packed) {
  profiler_.profile().copied_bytes.add(part.bytes);
  for (const plan::RoundPiece& piece : share_->pieces_of(part)) {
    copy_packed_piece(direction_, *part.view, piece, buffer_, packed.data());
    packed = packed.subspan(checked_cast<std::size_t>(piece.byte_count));
  }
}

DomainMessages::Bytes DomainMessages::in_buffer(const Extent& place) const {
  return {buffer_ + place.offset, checked_cast<std::size_t>(place.length)};
}

}  // namespace nacre::collective
