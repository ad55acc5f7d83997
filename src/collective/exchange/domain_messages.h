// DomainMessages: the messages of a round between an aggregator and its relays on other nodes.
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
#include "collective/rounds/round_copies.h"
#include "collective/rounds/round_queue.h"
#include "collective/task/transport.h"
#include "plan/direction.h"

namespace nacre::collective {

/// Each node with bytes in a round exchanges one message with the aggregator, which holds all bytes
/// of the node: received in a write, sent in a read, one round after the other. The bytes of a
/// message that are in one run in the cycle buffer need no other memory. Other messages are packed:
/// they are exchanged in portions that fit into as much memory as a round.
class DomainMessages {
 public:
  /// `round_bytes_max`: the most bytes of a round. All arguments must outlive this.
  DomainMessages(Transport& transport, plan::Direction direction, std::int64_t round_bytes_max,
                 Profiler& profiler, RoundCopies& copies)
      : transport_(transport),
        direction_(direction),
        round_bytes_max_(round_bytes_max),
        profiler_(profiler),
        copies_(copies) {}

  /// Begins a round. Its share, its cycle buffer and `room`, round_bytes_max bytes for packed
  /// messages, must stay in place until done(). Marks in `filled` which bytes of the buffer the
  /// messages fill.
  void begin(const RoundShare& share, std::byte* buffer, std::span<std::byte> room,
             Coverage* filled = nullptr);
  [[nodiscard]] bool done() const { return messages_.empty(); }
  /// Begins the next portion if all messages of the last one are complete; returns whether they
  /// were.
  bool step();

 private:
  using Bytes = std::span<std::byte>;
  /// The bytes of one node: parts [first_part, end_part) of the share.
  struct NodePart {
    int relay;
    std::size_t first_part;
    std::size_t end_part;
    MarkedRuns runs;  ///< the union of the parts
    bool is_packed = true;
    Bytes message = {};  ///< in the cycle buffer, or if packed in room_
    std::optional<std::size_t> kept_marks = std::nullopt;  ///< where in kept_marks_

    /// The message is the rank's own stream then.
    [[nodiscard]] bool has_one_rank() const { return end_part == first_part + 1; }
    /// The byte of the cycle buffer from which marks are counted.
    [[nodiscard]] std::int64_t marks_begin() const {
      return round_down(runs.hull.offset, Coverage::word_bits);
    }
  };
  void find_node_parts(Coverage* filled);
  void post_portion();
  /// Chooses the parts of the next portion: as many as have packed messages of round_bytes_max_
  /// bytes together, at least one. Places their messages in room_.
  void stage_portion();
  /// Lets messages that are in one run use the cycle buffer. In a write, messages may arrive in any
  /// order: the bytes of a run must not overlap those of another node.
  void place_disjoint_parts();
  void place(NodePart& part);
  void pack(NodePart& part);
  void unpack(NodePart& part);
  void mark_ranks(const NodePart& part, std::int64_t begin, Coverage& marks) const;
  /// The marks of a node's bytes, counted from marks_begin(); valid until the next call. Those of
  /// the first nodes are kept for the round.
  [[nodiscard]] Coverage marks_of(NodePart& part);

  Transport& transport_;
  plan::Direction direction_;
  std::int64_t round_bytes_max_;
  Profiler& profiler_;
  RoundCopies& copies_;
  const RoundShare* share_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::vector<NodePart> parts_;
  Bytes room_;
  std::vector<std::uint64_t> kept_marks_;  // of as many nodes as there is room for
  std::vector<std::uint64_t> marks_;
  std::span<NodePart> portion_;  // the parts whose messages are in flight
  std::span<NodePart> left_;     // the parts after the portion
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DOMAIN_MESSAGES_H_
