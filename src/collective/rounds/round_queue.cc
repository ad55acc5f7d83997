#include "collective/rounds/round_queue.h"

#include <algorithm>
#include <functional>

namespace nacre::collective {

void RoundQueue::add(int relay, const plan::FileDomains& domains, int domain,
                     const plan::FileAccess& access) {
  plan::DomainWalk walk(domains, domain, access);
  if (walk.done()) return;
  heap_.emplace_back(walk.round(), ranks_.size());
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  ranks_.push_back({relay, access.view, std::move(walk)});
}

void RoundQueue::take(std::int64_t round, RoundShare& share) {
  share.parts.clear();
  share.pieces.clear();
  while (next_round() == round && round != no_round) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    Entry& entry = heap_.back();
    ServedRank& rank = ranks_[entry.second];
    RoundPart part;
    part.relay = rank.relay;
    part.view = &rank.view;
    part.bytes = rank.walk.take_round(pieces_);
    part.first_piece = share.pieces.size();
    part.piece_count = pieces_.size();
    share.parts.push_back(part);
    share.pieces.insert(share.pieces.end(), pieces_.begin(), pieces_.end());
    if (rank.walk.done()) {
      heap_.pop_back();
    } else {
      entry.first = rank.walk.round();
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
  std::ranges::stable_sort(share.parts, std::less<>(), &RoundPart::relay);
}

}  // namespace nacre::collective
