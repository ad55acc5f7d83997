#include "collective/exchange/sole_side.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.h"
#include "collective/exchange/data_messages.h"
#include "collective/rounds/round_copies.h"
#include "plan/types/strided_copy.h"

namespace nacre::collective {
namespace {

class SoleSide final : public DrivenRounds {
 public:
  SoleSide(Transport& transport, const SoleTask& task, const NodeRounds& rounds,
           const plan::DomainWalk& walk)
      : transport_(transport),
        access_(task.access),
        number_(task.number),
        aggregator_rank_(task.aggregator_rank),
        rounds_(rounds),
        walk_(walk),
        slots_(checked_cast<std::size_t>(rounds.slot_count())) {}

  [[nodiscard]] bool done() const override { return walk_.done() && in_flight_ == 0; }

  /// Begins no more rounds than there are slots: short messages may be complete at once, and the
  /// other aggregators, or this rank as an aggregator, must not wait for all of them.
  bool step() override {
    bool moved = false;
    while (end_oldest()) moved = true;
    for (std::size_t i = 0; i < slots_.size() && begin_next(); ++i) moved = true;
    return moved;
  }

 private:
  /// A round in flight.
  struct Slot {
    std::vector<plan::RoundPiece> pieces;
    std::span<std::byte> packed;  // in a cycle buffer; empty: the message uses the rank's memory
    MessageId message = 0;
  };

  bool end_oldest() {
    if (in_flight_ == 0) return false;
    Slot& slot = slots_[oldest_];
    if (!transport_.test({&slot.message, 1})) return false;
    if (access_.reads() && !slot.packed.empty()) {
      const PhaseScope scope(access_.profiler, Phase::copy);
      access_.profiler.profile().copied_bytes.add(std::ssize(slot.packed));
      access_.copies.scatter(access_, slot.pieces, slot.packed);
    }
    oldest_ = (oldest_ + 1) % slots_.size();
    --in_flight_;
    return true;
  }

  bool begin_next() {
    if (walk_.done() || in_flight_ == slots_.size()) return false;
    const PhaseScope scope(access_.profiler, Phase::copy);
    const std::size_t index = (oldest_ + in_flight_) % slots_.size();
    Slot& slot = slots_[index];
    const std::int64_t bytes = walk_.take_round(slot.pieces);
    slot.packed = {};
    std::span<std::byte> message = run_in_memory(slot.pieces, bytes);
    if (message.empty()) {
      std::byte* const buffer = rounds_.memory().buffer(number_, static_cast<std::int64_t>(index));
      message = slot.packed = {buffer, checked_cast<std::size_t>(bytes)};
    }
    if (access_.reads()) {
      slot.message = receive_data(transport_, access_.profiler, aggregator_rank_, message);
    } else {
      if (!slot.packed.empty()) {
        access_.profiler.profile().copied_bytes.add(bytes);
        access_.copies.gather(access_, slot.pieces, slot.packed);
      }
      slot.message = send_data(transport_, access_.profiler, aggregator_rank_, message);
    }
    ++in_flight_;
    return true;
  }

  /// The `bytes` bytes of the pieces in the rank's memory, if they are one run there; else nothing.
  [[nodiscard]] std::span<std::byte> run_in_memory(std::span<const plan::RoundPiece> pieces,
                                                   std::int64_t bytes) const {
    const plan::RoundPiece& last = pieces.back();
    const std::int64_t first_byte = pieces.front().first_byte;
    const bool follow_each_other = last.first_byte + last.byte_count - first_byte == bytes;
    const plan::TypeMap& memory = access_.memory.type;
    if (!follow_each_other || !memory.is_contiguous()) return {};
    return {plan::at(access_.memory.base, memory.true_lb() + access_.memory_position(first_byte)),
            checked_cast<std::size_t>(bytes)};
  }

  Transport& transport_;
  const ExchangeAccess& access_;
  const int number_;
  const int aggregator_rank_;
  const NodeRounds& rounds_;
  plan::DomainWalk walk_;  // the rounds to begin
  std::vector<Slot> slots_;
  std::size_t oldest_ = 0;     // of slots_
  std::size_t in_flight_ = 0;  // rounds, from the oldest on
};

}  // namespace

std::unique_ptr<DrivenRounds> make_sole_side(Transport& transport, const SoleTask& task,
                                             const NodeRounds& rounds,
                                             const plan::DomainWalk& walk) {
  return std::make_unique<SoleSide>(transport, task, rounds, walk);
}

}  // namespace nacre::collective
