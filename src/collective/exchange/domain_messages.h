// DomainMessages: a round's messages between an aggregator and its relays on other nodes.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DOMAIN_MESSAGES_H_
#define NACRE_COLLECTIVE_EXCHANGE_DOMAIN_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/rounding.h"
#include "collective/profile/profile.h"
#include "collective/rounds/coverage.h"
#include "collective/rounds/marked_runs.h"
#include "collective/rounds/round_messages.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// One of each node that has bytes in it, with all of them: received when writing, sent when
/// reading, one round after the other. They are exchanged in portions: messages whose bytes lie in
/// one piece in the cycle buffer need no other memory, the rest is packed into as much as a round
/// holds.
class DomainMessages {
 public:
  /// `round_bytes_max`: what a round holds. What is referred to outlives this.
  DomainMessages(Transport& transport, plan::Direction direction, std::int64_t round_bytes_max,
                 Profiler& profiler)
      : transport_(transport),
        direction_(direction),
        round_bytes_max_(round_bytes_max),
        profiler_(profiler) {}

  /// A round, whose share and cycle buffer stay put until it is done(). `filled` is to be told what
  /// they fill of it, by bytes.
  void begin(const RoundShare& share, std::byte* buffer, Coverage* filled = nullptr);
  [[nodiscard]] bool done() const { return messages_.empty(); }
  /// Goes on to the next portion if that under way is through; whether it was.
  bool step();

 private:
  using Bytes = std::span<std::byte>;
  /// The parts [first_part, end_part) of the share, by their union.
  struct NodePart {
    int relay;
    std::size_t first_part;
    std::size_t end_part;
    MarkedRuns runs;
    std::optional<std::size_t> kept_marks;  ///< where in kept_marks_

    /// The message is the rank's own stream then.
    [[nodiscard]] bool has_one_rank() const { return end_part == first_part + 1; }
    /// What marks are counted from.
    [[nodiscard]] std::int64_t marks_begin() const {
      return round_down(runs.hull.offset, Coverage::word_bits);
    }
  };
  void find_node_parts(Coverage* filled);
  void post_portion();
  /// Of messages that may be received in any order: alone where they lie, and in one piece.
  void place_disjoint_parts();
  void place_whole_parts();
  void pack(NodePart& part, Bytes message);
  void unpack(NodePart& part, std::span<const std::byte> message);
  void mark_ranks(const NodePart& part, std::int64_t begin, Coverage& marks) const;
  /// The marks of a node's bytes, counted from marks_begin(), until it is called again; those of
  /// the first nodes are kept for the round.
  [[nodiscard]] Coverage marks_of(NodePart& part);
  [[nodiscard]] Bytes in_buffer(const Extent& place) const;

  Transport& transport_;
  plan::Direction direction_;
  std::int64_t round_bytes_max_;
  Profiler& profiler_;
  const RoundShare* share_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::vector<NodePart> parts_;
  RoundMessages places_;
  std::vector<std::uint64_t> kept_marks_;  // of as many nodes as there is room for
  std::vector<std::uint64_t> marks_;
  std::size_t first_ = 0;  // the portion under way: parts [first_, last_)
  std::size_t last_ = 0;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DOMAIN_MESSAGES_H_
