#include "collective/exchange/local_side.h"

#include "collective/rounds/round_copies.h"
#include "plan/types/type_map.h"

namespace nacre::collective {
namespace {

std::int64_t next_round(const plan::DomainWalk& walk) {
  return walk.done() ? no_round : walk.round();
}

}  // namespace

LocalSide::LocalSide(Transport& transport, const ExchangeAccess& access, const NodeRounds& node,
                     const plan::CollectivePlan& plan, std::span<const plan::DomainWalk> walks)
    : transport_(transport), access_(access), node_(node) {
  const RoundMemory& memory = node_.memory();
  for (int number = 0; number < std::ssize(walks); ++number) {
    if (node_.sends_directly_to(number)) continue;
    const plan::DomainWalk& walk = walks[static_cast<std::size_t>(number)];
    node_.publish(memory.placed_until(node_.self(), number), next_round(walk));
    node_.publish(memory.taken_until(node_.self(), number), next_round(walk));
    const bool requests_first = access.reads() && !(plan.whole_rounds && node_.is_here(number));
    if (!walk.done()) lanes_.push_back({number, requests_first, walk, walk});
  }
  ring_others(transport, node_.driving_ranks());
}

bool LocalSide::step() {
  bool moved = false;
  for (Lane& lane : lanes_) {
    if (!step(lane)) continue;
    moved = true;
    const auto number = static_cast<std::size_t>(lane.aggregator);
    ring_others(transport_, node_.drivers().subspan(number, 1));
  }
  std::erase_if(lanes_, [](const Lane& lane) { return lane.walk.done(); });
  return moved;
}

bool LocalSide::step(Lane& lane) {
  const bool requested = lane.requests_first && request(lane);
  return move(lane) || requested;
}

bool LocalSide::move(Lane& lane) {
  const RoundMemory& memory = node_.memory();
  const int aggregator = lane.aggregator;
  const bool reads = access_.reads();
  const std::int64_t until =
      node_.round_in(reads ? memory.filled_until(aggregator) : memory.open_until(aggregator));
  if (next_round(lane.walk) >= until) return false;
  const PhaseScope scope(access_.profiler, Phase::copy);
  RoundMemory::Word& done_until = reads ? memory.taken_until(node_.self(), aggregator)
                                        : memory.placed_until(node_.self(), aggregator);
  do {
    const std::int64_t round = lane.walk.round();
    access_.profiler.profile().copied_bytes.add(lane.walk.take_round(pieces_));
    Coverage coverage = node_.coverage(aggregator, round, access_.direction);
    for (const plan::RoundPiece& piece : pieces_) {
      if (reads) {
        access_.copies.copy_out(access_, piece, memory.buffer(aggregator, round));
      } else {
        access_.copies.copy_in(access_, piece, memory.buffer(aggregator, round), coverage);
      }
    }
    node_.publish(done_until, next_round(lane.walk));
  } while (next_round(lane.walk) < until);
  return true;
}

bool LocalSide::request(Lane& lane) {
  const RoundMemory& memory = node_.memory();
  const std::int64_t open_until = node_.round_in(memory.open_until(lane.aggregator));
  if (next_round(lane.requests) >= open_until) return false;
  const PhaseScope scope(access_.profiler, Phase::copy);
  // A relay requests no other bytes than its ranks.
  const std::int64_t bridged = node_.is_here(lane.aggregator) ? plan::bridged_gap_bytes : 0;
  const std::int64_t round = lane.requests.round();
  lane.requests.take_round(pieces_);
  Coverage coverage = node_.coverage(lane.aggregator, round, access_.direction);
  for (const plan::RoundPiece& piece : pieces_) {
    mark_piece(coverage, access_.placed.view, piece, bridged);
  }
  node_.publish(memory.placed_until(node_.self(), lane.aggregator), next_round(lane.requests));
  return true;
}

}  // namespace nacre::collective
