#include "plan/domains/domain_walk.h"

#include <algorithm>

namespace nacre::plan {

DomainWalk::DomainWalk(const FileDomains& domains, int domain, const FileAccess& access)
    : domains_(&domains),
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
    const FilePart& part = place_.part;
    const std::int64_t stop = std::min(end_, bytes_before(view_, part.file.end()));
    pieces.push_back({position_, stop - position_, part.file.offset - part.place});
    bytes += stop - position_;
    position_ = stop;
    find_place();
  }
  return bytes;
}

void DomainWalk::find_place() {
  while (position_ < end_) {
    const std::int64_t offset = offset_of(view_, position_);
    place_ = domains_->place_of(offset);
    if (place_.domain == domain_) return;
    const auto next = domains_->next_of(domain_, offset);
    if (!next) break;
    position_ = std::min(end_, bytes_before(view_, *next));
  }
  position_ = end_;
}

}  // namespace nacre::plan
