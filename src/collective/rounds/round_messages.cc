#include "collective/rounds/round_messages.h"

#include <utility>

#include "base/checked_cast.h"

namespace nacre::collective {

void RoundMessages::begin(std::vector<std::int64_t> sizes) {
  sizes_ = std::move(sizes);
  in_place_.assign(sizes_.size(), Bytes{});
  packed_.assign(sizes_.size(), Bytes{});
}

std::size_t RoundMessages::portion_end(std::size_t first, std::int64_t bytes_max) const {
  std::int64_t bytes = 0;
  for (std::size_t part = first; part < sizes_.size(); ++part) {
    if (is_packed(part)) bytes += sizes_[part];
    if (bytes > bytes_max && part > first) return part;
  }
  return sizes_.size();
}

void RoundMessages::stage(std::size_t first, std::size_t last) {
  std::int64_t total = 0;
  for (std::size_t part = first; part < last; ++part) {
    if (is_packed(part)) total += sizes_[part];
  }
  Bytes room = staging_.take(total);
  for (std::size_t part = first; part < last; ++part) {
    if (!is_packed(part)) continue;
    packed_[part] = room.first(checked_cast<std::size_t>(sizes_[part]));
    room = room.subspan(packed_[part].size());
  }
}

}  // namespace nacre::collective
