// RoundMemory: the cycle buffers of a node's aggregators, and the words by which its ranks tell
// each other how far they are.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_MEMORY_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace nacre::collective {

/// A round of a call: calls are counted from 1 on, so stamps of an open file only grow. Zero is
/// before all.
using RoundStamp = std::uint64_t;
constexpr std::int64_t round_bits = 32;
/// Rounds of a call are less than this; one that stands for "no more" is this or more.
constexpr std::int64_t round_limit = (std::int64_t{1} << round_bits) - 1;

[[nodiscard]] constexpr RoundStamp stamp_of(std::uint64_t call, std::int64_t round) {
  const std::int64_t capped = round < round_limit ? round : round_limit;
  return call << round_bits | static_cast<std::uint64_t>(capped);
}
/// The round of a stamp of `call`; -1 where the stamp is of an earlier call, no_round where no more
/// rounds follow.
constexpr std::int64_t no_round = std::numeric_limits<std::int64_t>::max();
[[nodiscard]] constexpr std::int64_t round_of(RoundStamp stamp, std::uint64_t call) {
  if (stamp < stamp_of(call, 0)) return -1;
  if (stamp >= stamp_of(call, round_limit)) return no_round;
  return static_cast<std::int64_t>(stamp & static_cast<std::uint64_t>(round_limit));
}

/// What a node has room for.
struct RoundLayout {
  std::int32_t rank_count = 0;        ///< on the node
  std::int32_t aggregator_count = 0;  ///< that serve any of them
  std::int32_t slot_count = 0;        ///< of each aggregator: rounds under way at once
  std::int64_t cycle_bytes = 0;

  [[nodiscard]] bool holds(const RoundLayout& other) const {
    return other.rank_count == rank_count && other.aggregator_count <= aggregator_count &&
           other.slot_count <= slot_count && other.cycle_bytes <= cycle_bytes;
  }
};

/// A view of memory that all ranks of the node see. Ranks and aggregators are numbered on the node.
/// Round r of an aggregator is in slot r % slot_count of its own.
class RoundMemory {
 public:
  using Word = std::atomic<RoundStamp>;

  [[nodiscard]] static std::int64_t bytes_needed(const RoundLayout& layout);
  /// What of the memory is to be zeros at first, from its begin on.
  [[nodiscard]] static std::int64_t control_bytes(const RoundLayout& layout);
  /// No memory.
  RoundMemory() = default;
  /// `memory`: bytes_needed(layout), aligned to a Word.
  RoundMemory(std::span<std::byte> memory, const RoundLayout& layout);

  [[nodiscard]] bool empty() const { return memory_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(memory_.size()); }
  [[nodiscard]] std::byte* buffer(int aggregator, std::int64_t round) const;
  /// A bit for each byte of the buffer, for its Coverage.
  [[nodiscard]] std::span<std::uint64_t> marks(int aggregator, std::int64_t round) const;

  /// 1 while an aggregator of the node writes and others wait for their turn.
  [[nodiscard]] std::atomic<std::uint64_t>& writer() const;
  /// The call at whose end the memory is given back; 0: none. Said by the lowest rank of the node,
  /// before it agrees on the outcome of that call.
  [[nodiscard]] std::atomic<std::uint64_t>& last_call() const;
  // Said by the aggregator.
  /// Rounds before this one may be placed in, or asked for.
  [[nodiscard]] Word& open_until(int aggregator) const;
  /// Rounds before this one have been read.
  [[nodiscard]] Word& filled_until(int aggregator) const;
  // Said by each rank, of each aggregator.
  /// The rank has placed, or asked for, all that it has in rounds before this one.
  [[nodiscard]] Word& placed_until(int rank, int aggregator) const;
  /// The rank has taken all that it wants of rounds before this one.
  [[nodiscard]] Word& taken_until(int rank, int aggregator) const;

 private:
  [[nodiscard]] Word& word(std::int64_t offset) const;
  [[nodiscard]] std::int64_t slot_number(int aggregator, std::int64_t round) const {
    return std::int64_t{aggregator} * layout_.slot_count + round % layout_.slot_count;
  }

  std::span<std::byte> memory_;
  RoundLayout layout_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_ROUNDS_ROUND_MEMORY_H_
