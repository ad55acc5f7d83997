// UserSide: a rank's own bytes in a two-phase access, between its memory and the aggregators.
#ifndef NACRE_COLLECTIVE_USER_SIDE_H_
#define NACRE_COLLECTIVE_USER_SIDE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/round_messages.h"
#include "collective/round_queue.h"
#include "collective/transport.h"
#include "collective/two_phase_access.h"

namespace nacre::collective {

/// Bytes that are in one piece in memory go straight to and from there; others through a copy of
/// the rank's bytes of the round. What an aggregator on this very rank handles is left to
/// DomainSide.
class UserSide {
 public:
  UserSide(Transport& transport, const TwoPhaseAccess& access, RoundQueue aggregators)
      : transport_(transport), access_(access), aggregators_(std::move(aggregators)) {}

  [[nodiscard]] std::int64_t next_round() const { return aggregators_.next_round(); }
  /// Posts all messages of `round`, if there are any; the caller waits for them.
  void start_round(std::int64_t round);
  [[nodiscard]] std::vector<MessageId>& messages() { return messages_; }
  /// Once the messages are complete: what was read is put where it belongs.
  void finish_round();

 private:
  /// Where the part lies in memory; empty unless that is in one piece.
  [[nodiscard]] std::span<std::byte> in_memory(const RoundPart& part) const;
  void pack(const RoundPart& part, std::span<std::byte> packed) const;
  void unpack(const RoundPart& part, std::span<const std::byte> packed) const;

  Transport& transport_;
  TwoPhaseAccess access_;
  RoundQueue aggregators_;
  RoundShare share_;
  RoundMessages places_;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_USER_SIDE_H_
