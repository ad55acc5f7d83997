#include "collective/exchange/domain_messages.h"

#include <algorithm>
#include <functional>

#include "base/checked_cast.h"
#include "collective/exchange/data_messages.h"
#include "collective/rounds/round_copies.h"

namespace nacre::collective {
namespace {

// 512 KiB. Marks that are not kept are computed twice.
constexpr std::size_t kept_words_max = std::size_t{1} << 16U;

/// From the first to the last byte of a part in the cycle buffer. The part fills the hull if it has
/// as many bytes, since views are monotone.
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

void DomainMessages::begin(const RoundShare& share, std::byte* buffer, Bytes room,
                           Coverage* filled) {
  share_ = &share;
  buffer_ = buffer;
  room_ = room;
  find_node_parts(filled);
  if (direction_ == plan::Direction::write) {
    place_disjoint_parts();
  } else {
    for (NodePart& part : parts_) place(part);
  }
  left_ = parts_;
  post_portion();
}

bool DomainMessages::step() {
  if (messages_.empty() || !transport_.test(messages_)) return false;
  messages_.clear();
  if (direction_ == plan::Direction::write) {
    const PhaseScope scope(profiler_, Phase::copy);
    for (NodePart& part : portion_) {
      if (part.is_packed) unpack(part);
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
    NodePart part{.relay = parts[first].relay,
                  .first_part = first,
                  .end_part = end,
                  .runs = {{}, parts[first].bytes}};
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

void DomainMessages::pack(NodePart& part) {
  profiler_.profile().copied_bytes.add(part.runs.bytes);
  if (part.has_one_rank()) {
    const RoundPart& rank = share_->parts[part.first_part];
    copies_.pack(*rank.view, share_->pieces_of(rank), buffer_, part.message);
  } else {
    copies_.pack(marks_of(part), buffer_ + part.marks_begin(), part.message);
  }
}

void DomainMessages::unpack(NodePart& part) {
  profiler_.profile().copied_bytes.add(part.runs.bytes);
  if (part.has_one_rank()) {
    const RoundPart& rank = share_->parts[part.first_part];
    copies_.unpack(*rank.view, share_->pieces_of(rank), part.message, buffer_);
  } else {
    copies_.unpack(marks_of(part), buffer_ + part.marks_begin(), part.message);
  }
}

void DomainMessages::post_portion() {
  const PhaseScope scope(profiler_, Phase::copy);
  stage_portion();
  for (NodePart& part : portion_) {
    if (direction_ == plan::Direction::write) {
      messages_.push_back(receive_data(transport_, profiler_, part.relay, part.message));
      continue;
    }
    if (part.is_packed) pack(part);
    messages_.push_back(send_data(transport_, profiler_, part.relay, part.message));
  }
}

void DomainMessages::stage_portion() {
  std::size_t count = 0;
  std::int64_t packed_bytes = 0;
  for (; count < left_.size(); ++count) {
    const NodePart& part = left_[count];
    if (!part.is_packed) continue;
    if (count > 0 && packed_bytes + part.runs.bytes > round_bytes_max_) break;
    packed_bytes += part.runs.bytes;
  }
  portion_ = left_.first(count);
  left_ = left_.subspan(count);
  Bytes room = room_;
  for (NodePart& part : portion_) {
    if (!part.is_packed) continue;
    part.message = room.first(checked_cast<std::size_t>(part.runs.bytes));
    room = room.subspan(part.message.size());
  }
}

void DomainMessages::place_disjoint_parts() {
  std::vector<NodePart*> order;
  order.reserve(parts_.size());
  for (NodePart& part : parts_) order.push_back(&part);
  std::ranges::sort(order, std::less<>(),
                    [](const NodePart* part) { return part->runs.hull.offset; });
  std::int64_t end_before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Extent& hull = order[i]->runs.hull;
    const bool is_last = i + 1 == order.size();
    const bool alone =
        end_before <= hull.offset && (is_last || hull.end() <= order[i + 1]->runs.hull.offset);
    if (alone) place(*order[i]);
    end_before = std::max(end_before, hull.end());
  }
}

void DomainMessages::place(NodePart& part) {
  if (!part.runs.is_one_run()) return;
  part.is_packed = false;
  part.message = {buffer_ + part.runs.hull.offset, checked_cast<std::size_t>(part.runs.bytes)};
}

}  // namespace nacre::collective
