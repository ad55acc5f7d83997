// CountedTransport: forwards to another transport and counts messages and their time.
#ifndef NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_
#define NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "collective/profile/profile.h"
#include "collective/task/transport.h"

namespace nacre::collective {

/// Message ids are those of `inner`, so that an operation over `inner` can wait for them. `inner`
/// and `profiler` must outlive this. Phase::messages measures only larger messages of the program's
/// data: for a short one, changing the phase twice would cost a good part of what it takes.
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
    if (is_timed(std::ssize(data))) return send_timed(destination, data);
    return inner_.send(destination, data);
  }
  [[nodiscard]] MessageId receive(int source, std::span<std::byte> data) override {
    if (is_timed(std::ssize(data))) return receive_timed(source, data);
    return inner_.receive(source, data);
  }
  bool test(std::span<MessageId> messages) override { return inner_.test(messages); }
  void ring(int rank) override { inner_.ring(rank); }
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override {
    inner_.run_in_helper_thread(std::move(job), thread_count_max);
  }
  void wait(Condition& condition) override { inner_.wait(condition); }
  [[nodiscard]] Result<store::SharedMemory> create_shared_memory(
      store::SharedMemory::Kind kind, std::uint64_t id, std::int64_t bytes,
      const std::string& purpose) override {
    return inner_.create_shared_memory(kind, id, bytes, purpose);
  }
  [[nodiscard]] std::int64_t available_memory() override { return inner_.available_memory(); }

 private:
  static constexpr std::int64_t timed_bytes = 4096;
  [[nodiscard]] bool is_timed(std::int64_t bytes) const {
    return bytes >= timed_bytes && profiler_.phase() == Phase::copy;
  }

  // Apart, so that a short message costs no more than its counts.
  [[gnu::noinline]] MessageId send_timed(int destination, std::span<const std::byte> data) {
    const PhaseScope scope(profiler_, Phase::messages);
    return inner_.send(destination, data);
  }
  [[gnu::noinline]] MessageId receive_timed(int source, std::span<std::byte> data) {
    const PhaseScope scope(profiler_, Phase::messages);
    return inner_.receive(source, data);
  }

  Transport& inner_;
  Profiler& profiler_;
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_PROFILE_COUNTED_TRANSPORT_H_
