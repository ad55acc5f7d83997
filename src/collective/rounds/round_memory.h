// RoundMemory: the cycle buffers of a node's aggregators, and the words in which its ranks publish
// their progress.
#ifndef NACRE_COLLECTIVE_ROUNDS_ROUND_MEMORY_H_
#define NACRE_COLLECTIVE_ROUNDS_ROUND_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace nacre::collective {

/// A round of a call. Calls are counted from 1, so the stamps of an open file only grow. Zero comes
/// before all rounds.
using RoundStamp = std::uint64_t;
constexpr std::int64_t round_bits = 32;
/// Rounds of a call are below this number; this number or more stands for "no more rounds".
constexpr std::int64_t round_limit = (std::int64_t{1} << round_bits) - 1;

[[nodiscard]] constexpr RoundStamp stamp_of(std::uint64_t call, std::int64_t round) {
  const std::int64_t capped = round < round_limit ? round : round_limit;
  return call << round_bits | static_cast<std::uint64_t>(capped);
}
/// The round of a stamp in `call`; -1 if the stamp is of an earlier call, no_round if no more
/// rounds follow.
constexpr std::int64_t no_round = std::numeric_limits<std::int64_t>::max();
[[nodiscard]] constexpr std::int64_t round_of(RoundStamp stamp, std::uint64_t call) {
  if (stamp < stamp_of(call, 0)) return -1;
  if (stamp >= stamp_of(call, round_limit)) return no_round;
  return static_cast<std::int64_t>(stamp & static_cast<std::uint64_t>(round_limit));
}

/// The dimensions of a RoundMemory.
struct RoundLayout {
  std::int32_t rank_count = 0;        ///< on the node
  std::int32_t aggregator_count = 0;  ///< that serve ranks of the node
  std::int32_t slot_count = 0;        ///< rounds in flight of each aggregator
  std::int64_t cycle_bytes = 0;

  [[nodiscard]] bool holds(const RoundLayout& other) const {
    return other.rank_count == rank_count && other.aggregator_count <= aggregator_count &&
           other.slot_count <= slot_count && other.cycle_bytes <= cycle_bytes;
  }
};

/// A view of memory that all ranks of the node share. Ranks and aggregators are numbered on the
/// node. Round r of an aggregator uses its slot r % slot_count.
class RoundMemory {
 public:
  using Word = std::atomic<RoundStamp>;

  [[nodiscard]] static std::int64_t bytes_needed(const RoundLayout& layout);
  /// The first bytes of the memory, which must be zeros before its first use.
  [[nodiscard]] static std::int64_t control_bytes(const RoundLayout& layout);
  /// No memory.
  RoundMemory() = default;
  /// `memory`: bytes_needed(layout) bytes, aligned to a Word.
  RoundMemory(std::span<std::byte> memory, const RoundLayout& layout);

  [[nodiscard]] bool empty() const { return memory_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(memory_.size()); }
  [[nodiscard]] std::byte* buffer(int aggregator, std::int64_t round) const;
  /// A bit for each byte of the buffer, for its Coverage.
  [[nodiscard]] std::span<std::uint64_t> marks(int aggregator, std::int64_t round) const;

  /// 1 while an aggregator of the node writes, if aggregators take turns.
  [[nodiscard]] std::atomic<std::uint64_t>& writer() const;
  /// The call after which the ranks release the memory; 0: none. The lowest rank of the node sets
  /// it before it agrees on the outcome of that call.
  [[nodiscard]] std::atomic<std::uint64_t>& last_call() const;
  // Published by the aggregator.
  /// Ranks may place bytes in rounds before this one, or request them.
  [[nodiscard]] Word& open_until(int aggregator) const;
  /// Rounds before this one have been read.
  [[nodiscard]] Word& filled_until(int aggregator) const;
  // Published by each rank, for each aggregator.
  /// The rank has placed, or requested, all its bytes of rounds before this one.
  [[nodiscard]] Word& placed_until(int rank, int aggregator) const;
  /// The rank has taken all its bytes of rounds before this one.
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
