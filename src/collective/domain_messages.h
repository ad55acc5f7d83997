// DomainMessages: a round's messages between an aggregator and ranks of other nodes.
#ifndef NACRE_COLLECTIVE_DOMAIN_MESSAGES_H_
#define NACRE_COLLECTIVE_DOMAIN_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/extent.h"
#include "collective/profile.h"
#include "collective/round_messages.h"
#include "collective/round_queue.h"
#include "collective/transport.h"
#include "plan/memory_access.h"

namespace nacre::collective {

/// Received when writing, sent when reading, one round after the other. They are exchanged in
/// portions: parts that lie in one piece in the cycle buffer need no other memory, the rest is
/// packed into as much as a round holds.
class DomainMessages {
 public:
  /// `packed_bytes_max`: what a round holds. What is referred to outlives this.
  DomainMessages(Transport& transport, plan::Direction direction, std::int64_t packed_bytes_max,
                 Profiler& profiler)
      : transport_(transport),
        direction_(direction),
        packed_bytes_max_(packed_bytes_max),
        profiler_(profiler) {}

  /// A round, whose share and cycle buffer stay put until it is done().
  void begin(const RoundShare& share, std::byte* buffer);
  [[nodiscard]] bool done() const { return messages_.empty(); }
  /// Goes on to the next portion if that under way is through; whether it was.
  bool step();

 private:
  using Bytes = std::span<std::byte>;
  void post_portion();
  /// Of parts that may be received in any order: alone where they lie, and filling it.
  void place_disjoint_parts();
  void place_whole_parts();
  /// Between the cycle buffer and a packed message.
  void copy_packed(const RoundPart& part, Bytes packed);
  [[nodiscard]] Bytes in_buffer(const Extent& place) const;

  Transport& transport_;
  plan::Direction direction_;
  std::int64_t packed_bytes_max_;
  Profiler& profiler_;
  const RoundShare* share_ = nullptr;
  std::byte* buffer_ = nullptr;
  RoundMessages places_;
  std::size_t first_ = 0;  // the portion under way: parts [first_, last_)
  std::size_t last_ = 0;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_MESSAGES_H_
