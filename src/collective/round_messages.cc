#include "collective/round_messages.h"

#include "base/checked_cast.h"

namespace nacre::collective {

void RoundMessages::begin(const RoundShare& share) {
  share_ = &share;
  in_place_.assign(share.parts.size(), Bytes{});
  packed_.assign(share.parts.size(), Bytes{});
}

std::size_t RoundMessages::portion_end(std::size_t first, std::int64_t bytes_max) const {
  std::int64_t bytes = 0;
  for (std::size_t part = first; part < share_->parts.size(); ++part) {
    if (is_packed(part)) bytes += share_->parts[part].bytes;
    if (bytes > bytes_max && part > first) return part;
  }
  return share_->parts.size();
}

void RoundMessages::stage(std::size_t first, std::size_t last) {
  std::int64_t total = 0;
  for (std::size_t part = first; part < last; ++part) {
    if (is_packed(part)) total += share_->parts[part].bytes;
  }
  Bytes room = staging_.take(total);
  for (std::size_t part = first; part < last; ++part) {
    if (!is_packed(part)) continue;
    packed_[part] = room.first(checked_cast<std::size_t>(share_->parts[part].bytes));
    room = room.subspan(packed_[part].size());
  }
}

}  // namespace nacre::collective
