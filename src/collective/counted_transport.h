// CountedTransport: counts what is sent, and the time it takes, on its way to another transport.
#ifndef NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_
#define NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_

#include <iterator>
#include <span>

#include "collective/profile.h"
#include "collective/transport.h"

namespace nacre::collective {

/// Messages are those of `inner`: whoever drives the operation may wait for them there. Both
/// outlive it. Phase::messages is for the program's data: the small messages of the other phases
/// belong to these.
class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& inner, Profiler& profiler) : inner_(inner), profiler_(profiler) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] MessageId send(int destination, std::span<const std::byte> data) override {
    profiler_.profile().messages.add(1);
    profiler_.profile().message_bytes.add(std::ssize(data));
    // Small calls are mostly not timed, and messages are all that they do.
    if (!profiler_.is_timed()) return inner_.send(destination, data);
    const PhaseScope scope(profiler_, phase());
    return inner_.send(destination, data);
  }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    if (!profiler_.is_timed()) return inner_.receive(source, data);
    const PhaseScope scope(profiler_, phase());
    return inner_.receive(source, data);
  }
  bool test(std::span<MessageId> messages) override { return inner_.test(messages); }
  void wait(std::span<MessageId> messages) override { inner_.wait(messages); }

 private:
  [[nodiscard]] Phase phase() const {
    return profiler_.phase() == Phase::copy ? Phase::messages : profiler_.phase();
  }

  Transport& inner_;
  Profiler& profiler_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_COUNTED_TRANSPORT_H_
