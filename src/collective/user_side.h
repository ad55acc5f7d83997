// UserSide: a rank's own bytes in an exchange, between its memory and the aggregators on
// other nodes.
#ifndef NACRE_COLLECTIVE_USER_SIDE_H_
#define NACRE_COLLECTIVE_USER_SIDE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/exchange_access.h"
#include "collective/round_messages.h"
#include "collective/round_queue.h"
#include "collective/transport.h"

namespace nacre::collective {

/// Bytes that are in one piece in memory go straight to and from there; others through a copy of
/// the rank's bytes of the round. One round is under way at a time.
class UserSide {
 public:
  UserSide(Transport& transport, const ExchangeAccess& access, RoundQueue aggregators)
      : transport_(transport), access_(access), aggregators_(std::move(aggregators)) {}

  [[nodiscard]] bool done() const { return messages_.empty() && aggregators_.empty(); }
  /// Goes on as far as messages allow; whether that was anywhere.
  bool step();

 private:
  /// Posts all messages of the next round.
  void start_round();
  /// Once the messages are complete: what was read is put where it belongs.
  void finish_round();
  /// Where the part lies in memory; empty unless that is in one piece.
  [[nodiscard]] std::span<std::byte> in_memory(const RoundPart& part) const;
  void pack(const RoundPart& part, std::span<std::byte> packed) const;
  void unpack(const RoundPart& part, std::span<const std::byte> packed) const;

  Transport& transport_;
  ExchangeAccess access_;
  RoundQueue aggregators_;
  RoundShare share_;
  RoundMessages places_;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_USER_SIDE_H_
