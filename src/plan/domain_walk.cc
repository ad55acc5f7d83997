#include "plan/domain_walk.h"

#include <algorithm>

namespace nacre::plan {

DomainWalk::DomainWalk(const CollectivePlan& plan, int domain, const FileAccess& access)
    : plan_(plan),
      domain_(domain),
      view_(access.view),
      position_(access.first_byte),
      end_(access.first_byte + access.byte_count) {
  find_place();
}

std::int64_t DomainWalk::take_round(std::vector<RoundPiece>& pieces) {
  pieces.clear();
  const std::int64_t round = place_.round;
  std::int64_t bytes = 0;
  while (!done() && place_.round == round) {
    const std::int64_t stop = std::min(end_, bytes_before(view_, place_.extent.end()));
    pieces.push_back({position_, stop - position_, place_.extent.offset - place_.buffer_offset});
    bytes += stop - position_;
    position_ = stop;
    find_place();
  }
  return bytes;
}

void DomainWalk::find_place() {
  while (position_ < end_) {
    const std::int64_t offset = offset_of(view_, position_);
    place_ = place_of(plan_, offset);
    if (place_.domain == domain_) return;
    // The next block that is dealt to this domain, by its distance from the block at hand.
    const std::int64_t domains = domain_count(plan_);
    const std::int64_t turns = (domain_ - place_.domain + domains) % domains;
    const std::int64_t into_block = (offset - plan_.origin) % plan_.block_bytes;
    const std::int64_t left = plan_.end - (offset - into_block);
    if (turns > (left - 1) / plan_.block_bytes) break;
    const std::int64_t next = offset - into_block + turns * plan_.block_bytes;
    position_ = std::min(end_, bytes_before(view_, next));
  }
  position_ = end_;
}

}  // namespace nacre::plan
