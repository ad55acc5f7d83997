// CountedTransport: counts what is sent, and the time it takes, on its way to another transport.
#ifndef NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_
#define NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_

#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "collective/profile/profile.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// Messages are those of `inner`: whoever drives the operation may wait for them there. Both
/// outlive it. Phase::messages is for the program's data in messages of some size: to look at the
/// clock twice for a smaller one costs a good part of what the message does.
class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& inner, Profiler& profiler) : inner_(inner), profiler_(profiler) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return inner_.nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return inner_.tree(); }
  [[nodiscard]] MessageId send(int destination, std::span<const std::byte> data) override {
    profiler_.profile().messages.add(1);
    profiler_.profile().message_bytes.add(std::ssize(data));
    if (!is_timed(std::ssize(data))) return inner_.send(destination, data);
    const PhaseScope scope(profiler_, Phase::messages);
    return inner_.send(destination, data);
  }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    if (!is_timed(std::ssize(data))) return inner_.receive(source, data);
    const PhaseScope scope(profiler_, Phase::messages);
    return inner_.receive(source, data);
  }
  bool test(std::span<MessageId> messages) override { return inner_.test(messages); }
  void ring(int rank) override { inner_.ring(rank); }
  void run_in_helper_thread(std::function<void()> job, int thread_count_max) override {
    inner_.run_in_helper_thread(std::move(job), thread_count_max);
  }
  void wait(Condition& condition) override { inner_.wait(condition); }

 private:
  static constexpr std::int64_t timed_bytes = 4096;
  [[nodiscard]] bool is_timed(std::int64_t bytes) const {
    return bytes >= timed_bytes && profiler_.phase() == Phase::copy;
  }

  Transport& inner_;
  Profiler& profiler_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_
