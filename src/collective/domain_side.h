// DomainSide: an aggregator's part in a two-phase access: the bytes of its file domain, between the
// ranks and the file.
#ifndef NACRE_COLLECTIVE_DOMAIN_SIDE_H_
#define NACRE_COLLECTIVE_DOMAIN_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/cycle_buffer.h"
#include "collective/round_messages.h"
#include "collective/round_queue.h"
#include "collective/transport.h"
#include "collective/two_phase_access.h"

namespace nacre::collective {

/// A round's messages are received, or sent, in portions: parts that lie in one piece in the cycle
/// buffer need no other memory, the rest is packed into as much as a round holds. The bytes that
/// this rank has in its own domain are copied between its memory and the cycle buffer.
class DomainSide {
 public:
  /// `buffer` belongs to the caller and outlives this. `round_bytes_max`: what it holds.
  DomainSide(Transport& transport, const TwoPhaseAccess& access, RoundQueue sources,
             CycleBuffer& buffer, std::int64_t round_bytes_max);

  [[nodiscard]] std::int64_t next_round() const { return sources_.next_round(); }
  [[nodiscard]] std::vector<MessageId>& messages() { return messages_; }

  // Writing: start_writing, then (wait for messages, fill) until fill() says that all is there,
  // then end_writing.
  void start_writing(std::int64_t round);
  /// Puts what was received into the buffer and posts the next portion; true when none is left.
  [[nodiscard]] bool fill();
  /// The round goes to the file.
  void end_writing();

  // Reading: start_reading, then (send, wait for messages) until send() says that all is sent.
  /// The round comes from the file.
  void start_reading(std::int64_t round);
  /// Posts the next portion; true when none is left after it.
  [[nodiscard]] bool send();

 private:
  using Bytes = std::span<std::byte>;

  void receive_portion();
  /// Of parts that may be received in any order: alone where they lie, and filling it.
  void place_disjoint_parts();
  void place_whole_parts();
  /// Between the cycle buffer and this rank's memory.
  void copy_own(const RoundPart& part);
  /// Between the cycle buffer and a packed message.
  void copy_packed(const RoundPart& part, Bytes packed);
  [[nodiscard]] Bytes in_buffer(const Extent& place);

  Transport& transport_;
  TwoPhaseAccess access_;
  RoundQueue sources_;
  CycleBuffer& buffer_;
  std::int64_t staging_bytes_max_;

  std::int64_t round_ = 0;
  RoundShare share_;
  RoundMessages places_;
  std::size_t first_ = 0;  // the portion under way: parts [first_, last_)
  std::size_t last_ = 0;
  std::vector<MessageId> messages_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_SIDE_H_
