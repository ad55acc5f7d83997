#include "collective/exchange/domain_messages.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/checked_cast.h"
#include "collective/rounds/round_piece_copy.h"

namespace nacre::collective {
namespace {

// 512 KiB; marks that are not kept are made twice.
constexpr std::size_t kept_words_max = std::size_t{1} << 16U;

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

void DomainMessages::begin(const RoundShare& share, std::byte* buffer, Coverage* filled) {
  share_ = &share;
  buffer_ = buffer;
  find_node_parts(filled);
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
      if (places_.is_packed(i)) unpack(parts_[i], places_.message(i));
    }
  }
  post_portion();
  return true;
}

void DomainMessages::find_node_parts(Coverage* filled) {
  const std::vector<RoundPart>& parts = share_->parts;
  parts_.clear();
  kept_marks_.clear();
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t end = first + 1;
    while (end < parts.size() && parts[end].relay == parts[first].relay) ++end;
    NodePart part{parts[first].relay, first, end, {{}, parts[first].bytes}, std::nullopt};
    for (std::size_t i = first; i < end; ++i) {
      part.runs.hull = hull(part.runs.hull, hull_of(*share_, parts[i]));
    }
    if (!part.has_one_rank()) {
      const Coverage marks = marks_of(part);
      part.runs.bytes = marks.count();
      if (filled != nullptr) filled->mark(marks, part.marks_begin());
    } else if (filled != nullptr) {
      mark_ranks(part, 0, *filled);
    }
    parts_.push_back(part);
    first = end;
  }
  std::vector<std::int64_t> sizes;
  sizes.reserve(parts_.size());
  for (const NodePart& part : parts_) sizes.push_back(part.runs.bytes);
  places_.begin(std::move(sizes));
}

void DomainMessages::mark_ranks(const NodePart& part, std::int64_t begin, Coverage& marks) const {
  for (std::size_t i = part.first_part; i < part.end_part; ++i) {
    const RoundPart& of_rank = share_->parts[i];
    for (plan::RoundPiece piece : share_->pieces_of(of_rank)) {
      piece.origin += begin;
      mark_piece(marks, *of_rank.view, piece, 0);
    }
  }
}

Coverage DomainMessages::marks_of(NodePart& part) {
  const std::int64_t begin = part.marks_begin();
  const std::int64_t size = part.runs.hull.end() - begin;
  const auto words = checked_cast<std::size_t>(Coverage::words_needed(size, 1));
  const auto marks_in = [&](std::span<std::uint64_t> all) {
    return Coverage(all.first(words), size, 1, Coverage::Markers::one);
  };
  if (part.kept_marks) return marks_in(std::span(kept_marks_).subspan(*part.kept_marks));
  const std::size_t kept = kept_marks_.size();
  const bool keeps = kept + words <= kept_words_max;
  if (keeps) {
    part.kept_marks = kept;
    kept_marks_.resize(kept + words);
  } else {
    marks_.assign(words, 0);
  }
  Coverage marks = marks_in(keeps ? std::span(kept_marks_).subspan(kept) : std::span(marks_));
  mark_ranks(part, begin, marks);
  return marks;
}

void DomainMessages::pack(NodePart& part, Bytes message) {
  profiler_.profile().copied_bytes.add(part.runs.bytes);
  if (part.has_one_rank()) {
    const RoundPart& rank = share_->parts[part.first_part];
    pack_pieces(*rank.view, share_->pieces_of(rank), buffer_, message);
  } else {
    pack_marked(marks_of(part), buffer_ + part.marks_begin(), message);
  }
}

void DomainMessages::unpack(NodePart& part, std::span<const std::byte> message) {
  profiler_.profile().copied_bytes.add(part.runs.bytes);
  if (part.has_one_rank()) {
    const RoundPart& rank = share_->parts[part.first_part];
    unpack_pieces(*rank.view, share_->pieces_of(rank), message, buffer_);
  } else {
    unpack_marked(marks_of(part), buffer_ + part.marks_begin(), message);
  }
}

void DomainMessages::post_portion() {
  const PhaseScope scope(profiler_, Phase::copy);
  first_ = last_;
  last_ = places_.portion_end(first_, round_bytes_max_);
  places_.stage(first_, last_);
  for (std::size_t i = first_; i < last_; ++i) {
    NodePart& part = parts_[i];
    const Bytes message = places_.message(i);
    if (direction_ == plan::Direction::write) {
      messages_.push_back(transport_.receive(part.relay, message));
      continue;
    }
    if (places_.is_packed(i)) pack(part, message);
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
