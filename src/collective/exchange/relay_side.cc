#include "collective/exchange/relay_side.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "collective/exchange/aggregator_rounds.h"
#include "collective/rounds/marked_runs.h"
#include "collective/rounds/scratch.h"

namespace nacre::collective {
namespace {

/// A round's message, on its way.
struct RelayedRound {
  std::int64_t number = 0;
  MarkedRuns runs;
  Scratch room;
  std::span<std::byte> packed;  // in it; empty where it goes straight from and to the cycle buffer
  std::vector<MessageId> messages;
};

/// What both directions have in common: rounds are begun in order, as far as there are slots, once
/// all ranks of the node have said what they have in them, and completed and ended in order.
class RelaySide : public DrivenRounds {
 public:
  RelaySide(Transport& transport, const Relay& relay, const NodeRounds& node)
      : transport_(transport),
        relay_(relay),
        rounds_(transport, node, relay.number, relay.direction) {}

  [[nodiscard]] bool done() const final { return round_ == no_round && under_way_.empty(); }

 protected:
  /// Posts the round's message, from or to `bytes`.
  virtual MessageId post(const RelayedRound& round, std::span<std::byte> bytes) = 0;
  virtual void complete(RelayedRound& round) = 0;
  /// Whether a completed round needs its slot no more.
  [[nodiscard]] virtual bool is_ended(const RelayedRound& round) const = 0;

  /// Where its bytes are not in one run, between the cycle buffer and the message.
  template <class Copy>
  void copy_packed(const RelayedRound& round, Copy copy) {
    if (round.packed.empty()) return;
    const PhaseScope scope(relay_.profiler, Phase::copy);
    relay_.profiler.profile().copied_bytes.add(round.runs.bytes);
    copy(rounds_.coverage(round.number), rounds_.buffer(round.number));
  }

  Transport& transport_;
  const Relay relay_;
  AggregatorRounds rounds_;

 private:
  bool advance() final {
    return complete_next() || end_oldest() || (round_ < 0 ? begin() : begin_round());
  }

  /// Once all ranks have come: of many aggregators a node has bytes for few.
  bool begin() {
    round_ = rounds_.placed_by_all();
    if (round_ < 0) return false;
    if (round_ != no_round) rounds_.open_from(round_);
    return true;
  }

  [[nodiscard]] std::int64_t oldest() const {
    return under_way_.empty() ? round_ : under_way_.front().number;
  }

  bool begin_round() {
    if (round_ == no_round || !rounds_.has_slot(round_, oldest())) return false;
    rounds_.open_from(oldest());
    if (rounds_.placed_by_all() <= round_) return false;
    RelayedRound& round = under_way_.emplace_back();
    if (!spare_.empty()) {
      round.room = std::move(spare_.back());
      spare_.pop_back();
    }
    round.number = round_;
    round.runs = measure(rounds_.coverage(round_));
    if (round.runs.bytes > 0) round.messages.push_back(post(round, place_of(round)));
    round_ = rounds_.round_after(round_, no_round);
    return true;
  }

  std::span<std::byte> place_of(RelayedRound& round) {
    if (round.runs.is_one_run()) {
      return {rounds_.buffer(round.number) + round.runs.hull.offset,
              checked_cast<std::size_t>(round.runs.bytes)};
    }
    round.packed = round.room.take(round.runs.bytes);
    return round.packed;
  }

  bool complete_next() {
    if (completed_count_ == under_way_.size()) return false;
    RelayedRound& round = under_way_[completed_count_];
    if (!round.messages.empty() && !transport_.test(round.messages)) return false;
    complete(round);
    ++completed_count_;
    return true;
  }

  bool end_oldest() {
    if (completed_count_ == 0 || !is_ended(under_way_.front())) return false;
    RelayedRound& round = under_way_.front();
    rounds_.coverage(round.number).clear(round.runs.hull.end());
    spare_.push_back(std::move(round.room));
    under_way_.pop_front();
    --completed_count_;
    if (round_ != no_round) rounds_.open_from(oldest());
    return true;
  }

  std::int64_t round_ = -1;  // the next to begin; -1: begin() finds out
  std::deque<RelayedRound> under_way_;
  std::size_t completed_count_ = 0;  // of these, the oldest
  std::vector<Scratch> spare_;       // of rounds that have ended
};

class RelayWriter final : public RelaySide {
 public:
  using RelaySide::RelaySide;

 private:
  MessageId post(const RelayedRound& round, std::span<std::byte> bytes) override {
    copy_packed(round, [&](const Coverage& marked, const std::byte* buffer) {
      pack_marked(marked, buffer, bytes);
    });
    return transport_.send(relay_.aggregator_rank, bytes);
  }
  void complete(RelayedRound&) override {}
  [[nodiscard]] bool is_ended(const RelayedRound&) const override { return true; }
};

class RelayReader final : public RelaySide {
 public:
  using RelaySide::RelaySide;

 private:
  MessageId post(const RelayedRound&, std::span<std::byte> bytes) override {
    return transport_.receive(relay_.aggregator_rank, bytes);
  }
  void complete(RelayedRound& round) override {
    copy_packed(round, [&](const Coverage& marked, std::byte* buffer) {
      unpack_marked(marked, buffer, round.packed);
    });
    rounds_.publish_filled(round.number + 1);
  }
  [[nodiscard]] bool is_ended(const RelayedRound& round) const override {
    return rounds_.taken_by_all() > round.number;
  }
};

}  // namespace

std::unique_ptr<DrivenRounds> make_relay_side(Transport& transport, const Relay& relay,
                                              const NodeRounds& rounds) {
  if (relay.direction == plan::Direction::write) {
    return std::make_unique<RelayWriter>(transport, relay, rounds);
  }
  return std::make_unique<RelayReader>(transport, relay, rounds);
}

}  // namespace nacre::collective
