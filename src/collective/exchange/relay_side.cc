#include "collective/exchange/relay_side.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "collective/exchange/aggregator_rounds.h"
#include "collective/exchange/data_messages.h"
#include "collective/rounds/coverage.h"

namespace nacre::collective {
namespace {

/// A round and its message.
struct RelayedRound {
  std::int64_t number = 0;
  MarkedRuns runs;
  std::span<std::byte> packed;  // empty: the message uses the cycle buffer
  std::vector<MessageId> messages;
};

/// Begins rounds in order, as far as there are slots, once all ranks of the node have placed or
/// requested their bytes; completes and ends rounds in order.
class RelaySide final : public SteppedRounds {
 public:
  RelaySide(Transport& transport, const Relay& relay, const NodeRounds& node)
      : transport_(transport),
        relay_(relay),
        rounds_(transport, node, relay.number, relay.direction) {}

  [[nodiscard]] bool done() const override { return round_ == no_round && in_flight_.empty(); }

 private:
  bool advance() override {
    return complete_next() || end_oldest() || (round_ < 0 ? begin() : begin_round());
  }
  [[nodiscard]] bool reads() const { return relay_.direction == plan::Direction::read; }

  /// Finds the first round, after all ranks have entered the call: of many aggregators a node has
  /// bytes for few.
  bool begin() {
    round_ = rounds_.placed_by_all();
    if (round_ < 0) return false;
    if (round_ != no_round) rounds_.open_from(round_);
    return true;
  }

  /// The oldest round that uses a slot.
  [[nodiscard]] std::int64_t oldest() const {
    return in_flight_.empty() ? round_ : in_flight_.front().number;
  }

  bool begin_round() {
    if (round_ == no_round || !rounds_.has_slot(round_, oldest())) return false;
    rounds_.open_from(oldest());
    if (rounds_.placed_by_all() <= round_) return false;
    RelayedRound& round = in_flight_.emplace_back();
    round.number = round_;
    round.runs = measure(rounds_.coverage(round_));
    if (round.runs.bytes > 0) round.messages.push_back(post(round));
    round_ = rounds_.round_after(round_, no_round);
    return true;
  }

  /// Sends the message of a round, or posts its receive.
  MessageId post(RelayedRound& round) {
    std::span<std::byte> bytes{rounds_.buffer(round.number) + round.runs.hull.offset,
                               checked_cast<std::size_t>(round.runs.bytes)};
    if (!round.runs.is_one_run()) {
      bytes = round.packed = rounds_.message_room(round.number).first(bytes.size());
    }
    if (reads()) return receive_data(transport_, relay_.profiler, relay_.aggregator_rank, bytes);
    copy_packed(round, [&](const Coverage& marked, const std::byte* buffer) {
      relay_.copies.pack(marked, buffer, round.packed);
    });
    return send_data(transport_, relay_.profiler, relay_.aggregator_rank, bytes);
  }

  /// Completes the oldest round whose message was still in flight.
  bool complete_next() {
    if (completed_count_ == in_flight_.size()) return false;
    RelayedRound& round = in_flight_[completed_count_];
    if (!round.messages.empty() && !transport_.test(round.messages)) return false;
    if (reads()) {
      copy_packed(round, [&](const Coverage& marked, std::byte* buffer) {
        relay_.copies.unpack(marked, buffer, round.packed);
      });
      rounds_.publish_filled(round.number + 1);
    }
    ++completed_count_;
    return true;
  }

  /// Copies between the cycle buffer and the message, if the message is packed.
  template <class Copy>
  void copy_packed(const RelayedRound& round, Copy copy) {
    if (round.packed.empty()) return;
    const PhaseScope scope(relay_.profiler, Phase::copy);
    relay_.profiler.profile().copied_bytes.add(round.runs.bytes);
    copy(rounds_.coverage(round.number), rounds_.buffer(round.number));
  }

  /// Frees the slot of the oldest round, once it is complete and all ranks have their bytes.
  bool end_oldest() {
    if (completed_count_ == 0) return false;
    RelayedRound& round = in_flight_.front();
    if (reads() && rounds_.taken_by_all() <= round.number) return false;
    rounds_.coverage(round.number).clear(round.runs.hull.end());
    in_flight_.pop_front();
    --completed_count_;
    if (round_ != no_round) rounds_.open_from(oldest());
    return true;
  }

  Transport& transport_;
  const Relay relay_;
  AggregatorRounds rounds_;
  std::int64_t round_ = -1;  // the next to begin; -1: not known yet
  std::deque<RelayedRound> in_flight_;
  std::size_t completed_count_ = 0;  // the oldest of in_flight_
};

}  // namespace

std::unique_ptr<DrivenRounds> make_relay_side(Transport& transport, const Relay& relay,
                                              const NodeRounds& rounds) {
  return std::make_unique<RelaySide>(transport, relay, rounds);
}

}  // namespace nacre::collective
