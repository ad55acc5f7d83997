// Messages with data of the program, whose time counts for Phase::messages.
#ifndef NACRE_COLLECTIVE_EXCHANGE_DATA_MESSAGES_H_
#define NACRE_COLLECTIVE_EXCHANGE_DATA_MESSAGES_H_

#include <cstddef>
#include <iterator>
#include <span>

#include "collective/profile/profile.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// The phase in which a message is sent or received. For a short one, changing the phase twice
/// would cost a good part of what it takes.
[[nodiscard]] inline Phase phase_of_message(const Profiler& profiler,
                                            std::span<const std::byte> data) {
  constexpr std::ptrdiff_t timed_bytes = 4096;
  const bool is_timed = std::ssize(data) >= timed_bytes && profiler.phase() == Phase::copy;
  return is_timed ? Phase::messages : profiler.phase();
}

[[nodiscard]] inline MessageId send_data(Transport& transport, Profiler& profiler, int destination,
                                         std::span<const std::byte> data) {
  const PhaseScope scope(profiler, phase_of_message(profiler, data));
  return transport.send(destination, data);
}

[[nodiscard]] inline MessageId receive_data(Transport& transport, Profiler& profiler, int source,
                                            std::span<std::byte> data) {
  const PhaseScope scope(profiler, phase_of_message(profiler, data));
  return transport.receive(source, data);
}

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_EXCHANGE_DATA_MESSAGES_H_
