#include "collective/domain_messages.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

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
  find_node_parts();
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
      if (!places_.is_packed(i)) continue;
      const NodePart& part = parts_[i];
      profiler_.profile().copied_bytes.add(part.runs.bytes);
      unpack_marked(marks_of(part), buffer_ + part.runs.hull.offset, places_.message(i));
    }
  }
  post_portion();
  return true;
}

void DomainMessages::find_node_parts() {
  const std::vector<RoundPart>& parts = share_->parts;
  parts_.clear();
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t end = first + 1;
    while (end < parts.size() && parts[end].relay == parts[first].relay) ++end;
    NodePart part{parts[first].relay, first, end, {{}, parts[first].bytes}};
    for (std::size_t i = first; i < end; ++i) {
      part.runs.hull = hull(part.runs.hull, hull_of(*share_, parts[i]));
    }
    if (end > first + 1) part.runs.bytes = marks_of(part).count();
    parts_.push_back(part);
    first = end;
  }
  std::vector<std::int64_t> sizes;
  for (const NodePart& part : parts_) sizes.push_back(part.runs.bytes);
  places_.begin(std::move(sizes));
}

Coverage DomainMessages::marks_of(const NodePart& part) {
  constexpr std::int64_t granule_bytes = 1;
  const std::int64_t words = Coverage::words_needed(part.runs.hull.length, granule_bytes);
  marks_.assign(checked_cast<std::size_t>(words), 0);
  Coverage marks(marks_, part.runs.hull.length, granule_bytes);
  for (std::size_t i = part.first_part; i < part.end_part; ++i) {
    const RoundPart& of_rank = share_->parts[i];
    for (plan::RoundPiece piece : share_->pieces_of(of_rank)) {
      piece.origin += part.runs.hull.offset;
      mark_piece(marks, *of_rank.view, piece, 0);
    }
  }
  return marks;
}

void DomainMessages::post_portion() {
  const PhaseScope scope(profiler_, Phase::copy);
  first_ = last_;
  last_ = places_.portion_end(first_, round_bytes_max_);
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    const NodePart& part = parts_[i];
    const Bytes message = places_.message(i);
    if (direction_ == plan::Direction::write) {
      messages_.push_back(transport_.receive(part.relay, message));
      continue;
    }
    if (places_.is_packed(i)) {
      profiler_.profile().copied_bytes.add(part.runs.bytes);
      pack_marked(marks_of(part), buffer_ + part.runs.hull.offset, message);
    }
    messages_.push_back(transport_.send(part.relay, message));
  }
}

void DomainMessages::place_disjoint_parts() {
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto hull_at = [&](std::size_t i) { return parts_[order[i]].runs.hull; };
  std::ranges::sort(order, std::less<>(),
                    [&](std::size_t part) { return parts_[part].runs.hull.offset; });
  std::int64_t end_before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Extent hull = hull_at(i);
    const bool alone =
        end_before <= hull.offset && (i + 1 == order.size() || hull.end() <= hull_at(i + 1).offset);
    if (alone && parts_[order[i]].runs.is_one_run()) places_.place(order[i], in_buffer(hull));
    end_before = std::max(end_before, hull.end());
  }
}

void DomainMessages::place_whole_parts() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].runs.is_one_run()) places_.place(i, in_buffer(parts_[i].runs.hull));
  }
}

DomainMessages::Bytes DomainMessages::in_buffer(const Extent& place) const {
  return {buffer_ + place.offset, checked_cast<std::size_t>(place.length)};
}

}  // namespace nacre::collective
